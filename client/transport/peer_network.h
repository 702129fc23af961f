// A volunteer's links to the other volunteers: mutual TLS 1.3, one thread, and on top of it the three things that peers
// do with each other: average a vector (client/averaging), hand over a state, and compute for each other with experts.
//
// Links are opened when a plan or a fetch needs them, keyed by PeerId, and kept between rounds. A link is up when the
// other end's hello has arrived. A peer that no plan has named yet may say hello and wait a while, because its plan may
// simply have arrived there first. Every address is checked against the policy before it is dialled.
//
// All methods may be called from any thread, including from the callbacks. Callbacks run on the net thread: they must
// be short, and must not destroy the network. Methods that wait for the net thread say so; never call those while
// holding a lock that a callback takes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/averaging/round_types.h"
#include "client/transport/call_types.h"
#include "client/transport/state_snapshot.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/tls.h"
#include "shared/net/address_policy.h"
#include "shared/net/line.h"
#include "shared/protocol/group_info.h"
#include "shared/reach/relay_types.h"

namespace starling::transport {

// Settings for the life of a network, that is, for one run.
struct PeerNetworkOptions {
  std::string listen_host = "::";  // IP literal ("::" takes IPv4 too); empty: dials, but cannot be dialled
  int listen_port = 0;             // 0: any free one
  PeerId self;
  RunId run_id;
  net::AddressPolicy addresses;
  std::size_t links_max = 1024;
  // Congestion control for TCP on far links (congestion_control.h). Empty: the system's own choice on all links; that
  // also stays where the system does not have or does not allow this one. One stream under loss-based control gets an
  // eighth of a 100 Mbit/s path with 40 ms and 0.1 % loss.
  std::string congestion_control = "bbr";
  // The volunteer's line, if others use it as well; outlives the network. Null: only this network uses it.
  net::Line* line = nullptr;
  std::size_t donations_max = 4;  // peers that may download a state from here at a time; others wait their turn
};

// The state of `round` with that digest, or null when it is not (or no longer) held.
using StateSource = std::function<std::shared_ptr<const StateSnapshot>(RoundIndex round, const Digest& digest)>;

// One averaging by a group that a plan has named: the vectors are borrowed, everything else is copied.
struct AverageRequest {
  wire::GroupInfo group;
  averaging::Rank self = 0;
  SampleCount weight = 0;
  SampleCount draw = 0;
  // See RoundVectors. They must stay valid, and input unchanged, until abandon() or the next average() that does not
  // follow this one has returned: the settled round goes on answering slower members.
  std::span<const float> input;
  std::span<float> output;
  std::span<float> rest{};
  std::span<const float> center{};
  // This averaging comes after another one of the same round by the same group. That one goes on answering slower
  // members, and its vectors must stay valid as these must. Members lost in it are not waited for.
  bool follows = false;
  // Links are opened at once; the round begins at this time (the caller has added group.start_in_ms to the plan's
  // arrival).
  TimePoint start{};
  averaging::AllReduceOptions engine;
  // Called with each frame to the member `to` before it is sent, on the net thread; what it leaves of the frame is
  // sent. Empty in the product: a test's liar changes frames here.
  std::function<void(const AverageRequest&, averaging::Rank to, averaging::OutgoingFrame&)> outgoing{};
  std::function<void(const averaging::AveragingOutcome&)> done;  // called once, unless abandoned before
};

// A download of a state so far. Only verified chunks are held; received bytes include discarded ones.
struct StateProgress {
  std::size_t chunks_held = 0;
  std::size_t chunks_total = 0;
  std::int64_t bytes_received = 0;
  std::size_t donors_in_use = 0;
};

// Names one download of a network.
using FetchNumber = std::uint64_t;

// A download of one state from any number of donors at once. Its callbacks run on the net thread.
struct StateFetch {
  std::vector<wire::Endpoint> donors;
  RoundIndex round = 0;
  Digest state_digest;
  // Exactly the state's length. Only verified chunks are written. Valid until `done` ran or cancel_fetch() returned.
  std::span<float> out;
  wire::StateForm form{};                              // the form in which donors send it
  std::function<void(const StateProgress&)> progress;  // a few times a second at most, and at the end; may be empty
  std::function<void(const Status&)> done;             // called once, unless cancelled before
};

// Peers that the coordinator asks this computer to relay for, beside the members of its own group.
struct RelayDuty {
  std::vector<PeerId> clients;
  RoundIndex round = 0;
  std::int64_t bytes_per_round = 0;  // limit for each client together with one other peer
  double bytes_per_s = 0;            // limit for everything that is relayed here, together; 0: no limit
};

// How this computer uses a relay, and serves as one.
struct RelayView {
  std::optional<PeerId> posted_at;  // the relay at which others can call us now
  std::string problem;              // why others cannot call us there; empty if they can
  reach::RelayStats serving;        // traffic relayed here for others
};

// Best values that the links with one peer have shown of the way there; zeros: nothing yet.
struct PeerSpeed {
  PeerId peer = {};
  double upload_bytes_per_s = 0;
  double download_bytes_per_s = 0;
  Duration round_trip{};  // unknown for relayed links

  // Takes the better of both; `other` is of another link with this peer.
  void merge(const PeerSpeed& other);
};

// Figures of one moment, for display and for the coordinator's plans.
struct NetworkStats {
  // Measured passively over recent rounds and transfers; 0: nothing to measure yet.
  double upload_bytes_per_s = 0;
  double download_bytes_per_s = 0;
  Duration round_trip{};  // median of the known ones in `peers`; zero: none is known
  // Totals of payload and headers since creation, without TLS overhead.
  std::int64_t round_bytes_sent = 0;
  std::int64_t round_bytes_received = 0;
  std::int64_t state_bytes_sent = 0;
  std::int64_t state_bytes_received = 0;
  std::int64_t call_bytes_sent = 0;  // to experts and from them
  std::int64_t call_bytes_received = 0;
  // Bytes on the line, both ways together, as an Ethernet interface counts them (net::WireBytes).
  std::int64_t round_wire_bytes = 0;
  std::int64_t state_wire_bytes = 0;
  std::size_t links_up = 0;
  std::size_t streams_up = 0;     // connections of these links: more than one for a link where losses hold one back
  std::size_t links_refused = 0;  // inbound or outbound links that never came up: wrong certificate, garbage, silence
  std::size_t links_relayed = 0;  // links up over a relay
  std::vector<PeerSpeed> peers;   // peers with which a link is up
  RelayView relay;
};

class PeerNetwork {
 public:
  // `tls` is a TlsContext::peer. Certificate dates are judged by clock.wall_now(), which therefore should follow the
  // coordinator's time. `clock` outlives the network; `state_source` is called on the net thread. Ignores SIGPIPE for
  // the process.
  static Result<std::unique_ptr<PeerNetwork>> create(const PeerNetworkOptions& options, const crypto::TlsContext& tls,
                                                     const Clock& clock, StateSource state_source);
  ~PeerNetwork();  // cuts all links and waits for the net thread; no callback runs afterwards

  // The port where this peer listens; 0 when it does not.
  [[nodiscard]] int port() const;

  // Replaces the round before, settled or not, unless this one follows it. invalid_argument when the plan or the spans
  // do not fit. Waits for the net thread.
  Status average(AverageRequest request);
  // Forgets the round. Waits for the net thread; afterwards input and output are the caller's again.
  void abandon();

  // One bucket's gossip averaging between rounds (client/rounds/gossip.h). It goes on beside those of other buckets;
  // earlier ones send first, and so do answers that the last round's slower members still ask for. It replaces the
  // bucket's gossip before it; request.follows has no meaning. Errors as for average(). Vectors must stay valid as for
  // average(), until the bucket's next mix() or end_gossip() has returned. Both wait for the net thread.
  Status mix(std::size_t bucket, AverageRequest request);
  void end_gossip(std::size_t bucket);

  // Several may run at a time, of different states: failed_precondition for one that is being fetched already. Both
  // wait for the net thread. Cancelling does nothing if that fetch has ended.
  Result<FetchNumber> fetch_state(StateFetch fetch);
  void cancel_fetch(FetchNumber number);

  // Keeps links with those who hold experts that this volunteer calls, in place of those before; `self` is this member.
  // Waits for the net thread.
  void link_with_holders(const std::vector<wire::Endpoint>& holders, const wire::Endpoint& self);
  // None of these waits. A call without a link fails at once. Frames of answers go before those of calls, and both take
  // two turns of three while a round has something to send.
  void call(OutgoingCall call);
  void call_off(const PeerId& holder, const Hash128& id);
  void answer(OutgoingAnswer answer);
  void refuse(const PeerId& caller, const Hash128& id, const wire::Refusal& refusal);
  void weigh(const PeerId& holder, wire::Weights weights);
  // Who takes others' calls from now on: it outlives the network, or the next such call. Null: all are refused. Waits
  // for the net thread.
  void take_calls_by(CallTaker* taker);

  // Members of the project that may have the state from here, beside those of plans that average() and mix() have seen,
  // for a day; each within a budget (donation_budget.h). Empty: the coordinator names nobody, so all of them may.
  // `unnamed_asks` is called every few seconds at most, on the net thread, when somebody who is not named asks: the
  // coordinator should be called soon. Waits for the net thread.
  void name_newcomers(const std::optional<std::vector<PeerId>>& newcomers, std::function<void()> unnamed_asks);

  // Members whose certificates the coordinator has revoked, though they are still in their time: their links end, and
  // they get no new ones, nor anything relayed. Replaces those named before. Waits for the net thread.
  void deny(std::span<const PeerId> revoked);

  // Both wait for the net thread. The endpoint is this computer's own as others will see it, together with a relay.
  // `changed` is called when others can call us there, and when they no longer can.
  void relay_for(RelayDuty duty);
  Status post_at(const std::optional<wire::Endpoint>& relay, std::function<void()> changed = nullptr);

  // Limits of all traffic on the line, headers included; 0: no limit. Waits for the net thread.
  void limit(double upload_bytes_per_s, double download_bytes_per_s);

  // The certificate for links from now on; links that are up stay until they are a day old.
  void renew_certificate(crypto::TlsContext tls);  // Waits for the net thread.

  [[nodiscard]] NetworkStats stats() const;  // Waits for the net thread.

 private:
  class Impl;
  explicit PeerNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::transport
