// How two computers that cannot reach each other meet at a third one, the relay, which sees only ciphertext.
//
//   1. Each connects to the relay, sends kRelayGreeting, and then speaks TLS 1.3, both ends showing certificates of the
//      project. The caller knows from its plan which key the relay must have.
//   2. It sends one request, kRelayRequestBytes in one TLS record: u8 kind, 32 bytes peer.
//        post   "I wait here for calls"; peer is zero. The answer is one byte; then 32 bytes for each peer that calls.
//        call   "connect me with that peer". The answer comes when that peer has called as well: a posted peer hears of
//               the call, and any other has the same plan and calls on its own.
//      The caller sends nothing more until it has the answer.
//   3. After `accepted` to a call, TLS with the relay is over without a close alert, and the connection carries the
//      bytes of the two peers: another TLS session, in which the peer with the lower id is the client.
//
// A coordinator that tests whether a volunteer can be dialled does step 1 and hangs up: the handshake proves the
// volunteer's identity.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::reach {

// No TLS record begins like this, so one port serves calls to the listener and calls through it.
constexpr std::string_view kRelayGreeting = "STR1";
constexpr std::size_t kRelayRequestBytes = 1 + PeerId::kSize;

// Kinds of requests, by their byte on the wire.
enum class RelayRequestKind : std::uint8_t { post = 1, call = 2 };

// The one request of a connection to a relay.
struct RelayRequest {
  RelayRequestKind kind = RelayRequestKind::post;
  PeerId peer;  // peer to be connected with, in a call
};
std::string encode(const RelayRequest& request);
// corrupt for anything that encode does not write.
Result<RelayRequest> decode_relay_request(std::span<const char> bytes);

// The byte that answers a request. After anything but `accepted` the relay hangs up.
enum class RelayAnswer : std::uint8_t { accepted = 1, not_allowed = 2, busy = 3, nobody_came = 4 };
// Ok for `accepted`; otherwise the relay's reason for refusing. corrupt for a byte that is no answer.
Status judge_answer(std::uint8_t answer);

}  // namespace starling::reach
