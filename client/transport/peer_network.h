// A volunteer's links to the other volunteers: mutual TLS 1.3, one thread, and on top of it the two things that
// peers do with each other: average a vector (client/averaging) and hand over a state.
//
// Links are opened when a plan or a fetch needs them, keyed by PeerId, and kept between rounds. A link is up
// when the other end's hello arrived. A peer that no plan named yet may say hello and wait a while: its plan may
// simply be here first. Every address is checked against the policy before it is dialled.
//
// All methods may be called from any thread, including from the callbacks. Callbacks run on the net thread: they
// must be short, and must not destroy the network. Methods that wait for the net thread say so; never call those
// while holding a lock that a callback takes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "client/transport/address_policy.h"
#include "client/transport/state_snapshot.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/tls.h"
#include "shared/net/line.h"
#include "shared/reach/relay_types.h"
#include "shared/wire/group_info.h"

namespace starling::transport {

struct PeerNetworkOptions {
  std::string listen_host = "::";  // IP literal ("::" takes IPv4 too); empty: dials, but cannot be dialled
  int listen_port = 0;             // 0: any free one
  PeerId self;
  RunId run_id;
  AddressPolicy addresses;
  std::size_t links_max = 1024;
  // What TCP is asked for on links that go far (congestion_control.h); the system's own choice stays where it does not
  // have it or does not allow it, or, on all links, when this is empty. One stream under loss-based control gets an
  // eighth of a 100 Mbit/s path with 40 ms and 0.1 % loss.
  std::string congestion_control = "bbr";
  // The volunteer's line, where others than this network use it too; outlives the network. Null: only this network
  // does.
  net::Line* line = nullptr;
  std::size_t donations_max = 4;  // peers that may download a state from here at once; others wait their turn
};

// The state of `round` with that digest, or null when it is not (or no longer) held.
using StateSource = std::function<std::shared_ptr<const StateSnapshot>(RoundIndex round, const Digest& digest)>;

struct AverageRequest {
  wire::GroupInfo group;
  averaging::Rank self = 0;
  SampleCount weight = 0;
  SampleCount draw = 0;
  // As in RoundVectors. They must stay valid, and input unchanged, until the next average() that does not follow this
  // one, or abandon(), has returned: the settled round goes on answering slower members.
  std::span<const float> input;
  std::span<float> output;
  std::span<float> rest{};
  // Comes after another averaging of the same round by the same group: that goes on answering slower members, and its
  // vectors must stay valid as these. Whoever was lost in it is not waited for.
  bool follows = false;
  // Links are opened at once; the round begins here (the caller has added group.start_in_ms to the plan's arrival).
  TimePoint start{};
  averaging::AllReduceOptions engine;
  std::function<void(const averaging::AveragingOutcome&)> done;  // once, unless abandoned before
};

struct StateProgress {
  std::size_t chunks_held = 0;
  std::size_t chunks_total = 0;
  std::int64_t bytes_received = 0;
  std::size_t donors_in_use = 0;
};

struct StateFetch {
  std::vector<wire::Endpoint> donors;
  RoundIndex round = 0;
  Digest state_digest;
  // Exactly the state's length. Only verified chunks are written. Valid until done ran or cancel_fetch() returned.
  std::span<float> out;
  wire::StateForm form{};                              // in which donors send it
  std::function<void(const StateProgress&)> progress;  // a few times a second at most, and at the end; may be empty
  std::function<void(const Status&)> done;             // once, unless cancelled before
};

// Whom the coordinator asks this computer to relay for, beside the members of its own group.
struct RelayDuty {
  std::vector<PeerId> clients;
  RoundIndex round = 0;
  std::int64_t bytes_per_round = 0;  // each client and another may pass so many
  double bytes_per_s = 0;            // everything that is relayed here, together; 0: no limit
};

struct RelayView {
  std::optional<PeerId> posted_at;  // the relay at which others can call us now
  std::string problem;              // why not, if it does not work
  reach::RelayStats serving;        // what is relayed here, for others
};

// What the links with one peer have shown of the way there in their fastest moments; zeros: nothing yet.
struct PeerSpeed {
  PeerId peer = {};
  double upload_bytes_per_s = 0;
  double download_bytes_per_s = 0;
  Duration round_trip{};  // not known of what is relayed

  // Of another link with this peer: the better of both.
  void merge(const PeerSpeed& other);
};

struct NetworkStats {
  // Measured passively over recent rounds and transfers; 0: nothing to measure yet.
  double upload_bytes_per_s = 0;
  double download_bytes_per_s = 0;
  Duration round_trip{};  // the median of what is known of `peers`; zero: nothing is
  // Totals of payload and headers since creation, without TLS overhead.
  std::int64_t round_bytes_sent = 0;
  std::int64_t round_bytes_received = 0;
  std::int64_t state_bytes_sent = 0;
  std::int64_t state_bytes_received = 0;
  // The same on the line, both ways together, as an Ethernet interface counts it (net::WireBytes).
  std::int64_t round_wire_bytes = 0;
  std::int64_t state_wire_bytes = 0;
  std::size_t links_up = 0;
  std::size_t streams_up = 0;     // connections that these have: more where losses hold one back
  std::size_t links_refused = 0;  // inbound or outbound, that never came up: wrong certificate, garbage, silence
  std::size_t links_relayed = 0;  // of those that are up
  std::vector<PeerSpeed> peers;   // with which a link is up
  RelayView relay;
};

class PeerNetwork {
 public:
  // `tls` is a TlsContext::peer. Certificate dates are judged by clock.wall_now(), which therefore should follow the
  // coordinator's time. `clock` outlives the network; `state_source` is called on the net thread. Ignores SIGPIPE
  // for the process.
  static Result<std::unique_ptr<PeerNetwork>> create(const PeerNetworkOptions& options, const crypto::TlsContext& tls,
                                                     const Clock& clock, StateSource state_source);
  ~PeerNetwork();  // cuts all links and waits for the net thread; no callback runs afterwards

  // Where this peer listens; 0 when it does not.
  [[nodiscard]] int port() const;

  // Replaces the round before, settled or not, unless it follows that. invalid_argument when the plan or the spans do
  // not fit. Waits for the net thread.
  Status average(AverageRequest request);
  // Forgets the round. Waits for the net thread; afterwards input and output are the caller's again.
  void abandon();

  // A bucket's mixing between rounds (client/session/mixing.h), beside those of other buckets, which go first if they
  // have begun before, and whatever the last round's slower members still ask for. Replaces the bucket's mixing before;
  // request.follows means nothing. Errors as average(). Vectors as average()'s, until the bucket's next mix() or
  // end_mixing() has returned. Wait for the net thread.
  Status mix(std::size_t bucket, AverageRequest request);
  void end_mixing(std::size_t bucket);

  // failed_precondition while another fetch is running. Waits for the net thread.
  Status fetch_state(StateFetch fetch);
  void cancel_fetch();  // Waits for the net thread.

  // Both wait for the net thread. The endpoint is this computer's own, as others will see it: with a relay. `changed`
  // is called when others can call us there, and when they no longer can.
  void relay_for(RelayDuty duty);
  Status post_at(const std::optional<wire::Endpoint>& relay, std::function<void()> changed = nullptr);

  // What all traffic may take of the line, headers included; 0: no limit. Waits for the net thread.
  void limit(double upload_bytes_per_s, double download_bytes_per_s);

  // For links from now on; those that are up stay until they are a day old.
  void renew_certificate(crypto::TlsContext tls);  // Waits for the net thread.

  [[nodiscard]] NetworkStats stats() const;  // Waits for the net thread.

 private:
  class Impl;
  explicit PeerNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::transport
