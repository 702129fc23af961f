#include "shared/reach/relay_protocol.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::reach;

namespace {

PeerId some_peer() {
  PeerId peer;
  peer.bytes.fill(7);
  return peer;
}

}  // namespace

TEST_CASE("requests come back as they were written") {
  const RelayRequest post{RelayRequestKind::post, {}};
  const RelayRequest call{RelayRequestKind::call, some_peer()};
  CHECK(decode_relay_request(encode(post))->kind == RelayRequestKind::post);
  const auto decoded = decode_relay_request(encode(call));
  REQUIRE(decoded.ok());
  CHECK(decoded->kind == RelayRequestKind::call);
  CHECK(decoded->peer == some_peer());
}

TEST_CASE("what no caller writes is no request") {
  const std::string call = encode({RelayRequestKind::call, some_peer()});
  CHECK_FALSE(decode_relay_request(call.substr(1)).ok());
  CHECK_FALSE(decode_relay_request(call + "x").ok());
  CHECK_FALSE(decode_relay_request(std::string()).ok());
  CHECK_FALSE(decode_relay_request("\x03" + call.substr(1)).ok());
  // A post names no peer, and a call names one.
  CHECK_FALSE(decode_relay_request("\x01" + call.substr(1)).ok());
  CHECK_FALSE(decode_relay_request(encode({RelayRequestKind::call, {}})).ok());
}

TEST_CASE("every answer but one is a refusal that says why") {
  CHECK(judge_answer(static_cast<std::uint8_t>(RelayAnswer::accepted)).ok());
  CHECK(judge_answer(static_cast<std::uint8_t>(RelayAnswer::not_allowed)).error().code == ErrorCode::permission_denied);
  CHECK(judge_answer(static_cast<std::uint8_t>(RelayAnswer::busy)).error().code == ErrorCode::resource_exhausted);
  CHECK(judge_answer(static_cast<std::uint8_t>(RelayAnswer::nobody_came)).error().code == ErrorCode::unavailable);
  CHECK(judge_answer(99).error().code == ErrorCode::corrupt);
}
