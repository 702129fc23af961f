// The call that a member makes every few seconds, and its answer: all that is due, in one message each way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/checkpoint.h"
#include "shared/protocol/compute_device.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/limits.h"
#include "shared/protocol/round_report.h"
#include "shared/protocol/round_trouble.h"
#include "shared/protocol/sample_lease.h"
#include "shared/protocol/state_proof.h"
#include "shared/protocol/states.h"

namespace starling::wire {

constexpr std::size_t kDonorsMax = 8;
constexpr std::size_t kNewcomersMax = 64;
constexpr std::size_t kRevokedMax = 256;
constexpr std::size_t kRelayClientsMax = 16;  // limit for one volunteer's relay
constexpr double kJitterMax = 10;             // standard deviation over mean
constexpr double kRoundTripMaxS = 60;
constexpr std::size_t kTrainerFailureBytesMax = 300;

// Proof that the sender has the floats of its state_digest (state::holding_proof).
struct HoldingProof {
  Hash128 challenge;  // the last reply's
  Digest digest;
};

// A member's grounds to believe others, or not to, and theirs to believe it.
struct TrustMatters {
  std::vector<RoundTrouble> troubles{};   // the last ones that no reply has followed yet
  bool state_proof_wanted = false;        // the reply's state has to be proven
  std::optional<HoldingProof> holding{};  // unset: it holds no state, or no reply has come yet
};

// How others can call a member, and how it helps them to be called.
struct RelayPart {
  PeerId posted_at;        // the relay at which others can call this member now; zero: none
  double bytes_per_s = 0;  // rate that it offers to relay for others; 0: nothing
};

// A member's computations.
struct Computing {
  std::string failure{};  // why its trainer fails, again and again, for the operator: plain text; empty: it does not
  // The device of its last trainer, for the operator; where the volunteer's rules leave a card alone, it says only that
  // they do. Unset: no trainer of this run was ready yet.
  std::optional<ComputeDevice> device{};
};

// A member's condition and measurements, sent at the interval that the last reply named.
struct Heartbeat {
  int protocol = kProtocolVersion;
  RunId run_id;
  MemberPhase phase = MemberPhase::joining;
  RoundIndex state_round = 0;          // the replica has taken this many steps
  Digest state_digest;                 // zero while there is no state
  SampleCount samples_this_round = 0;  // accumulated toward round state_round
  double samples_per_s = 0;            // while computing; smoothed
  double batch_seconds = 0;            // one micro-batch: how late this member may come to a meeting
  double batch_jitter = 0;             // standard deviation of its time, over the mean; 0: not known yet
  int listen_port = 0;                 // the peer transport's; 0: cannot be dialled
  double upload_bytes_per_s = 0;       // measured in earlier rounds; 0: not known yet
  double download_bytes_per_s = 0;
  double round_trip_s = 0;  // the usual one to members that it has links with; 0: not known yet
  RelayPart relaying;
  Computing computing;
  std::vector<RoundReport> reports;  // not acknowledged yet, oldest first
  std::optional<EvaluationReport> evaluation;
  // Where samples are leased: this process (random, not 0; an earlier one's leases are not used again), and the number
  // of its next draw. Both stay unchanged until a reply has come, so a lost call loses nothing.
  std::int64_t process = 0;
  SampleCount next_draw = 0;
  TrustMatters trust;
};

// The whole swarm's work toward a round.
struct SwarmFigures {
  SampleCount target_batch_size = 0;
  SampleCount samples_accumulated = 0;  // by all members
  double samples_per_s = 0;
  int size = 0;
};

// An account's credit in this run, from the ledger.
struct CreditFigures {
  SampleCount samples = 0;
  double credit = 0;
};

// How a member is helped to be called, or helps others.
struct RelayDuty {
  std::optional<Endpoint> at;        // where this member, which nobody can dial, should wait for calls
  std::vector<PeerId> clients;       // members that wait for calls at this one
  std::int64_t bytes_per_round = 0;  // that each of them and another may pass
};

// A member's address as others see it.
struct SeenAddress {
  Reachability reachability = Reachability::unknown;
  std::string address;  // the one from which it called the coordinator
};

// Members of whom this one knows nothing but what the coordinator says.
struct NamedMembers {
  // They were lately told to get the state from this member. Unset: an older coordinator, which names nobody.
  std::optional<std::vector<PeerId>> newcomers;
  // They were taken out of the project, and their certificates may still be in their time: nobody should have links
  // with them. Replaces the list of the reply before.
  std::vector<PeerId> revoked;
};

// The coordinator's own help for a member that does not hold state_digest, and its challenge for those that do.
struct KeptForMembers {
  std::optional<Checkpoint> checkpoint;   // a copy, when no member has proven that it holds the state
  std::optional<StateProof> state_proof;  // for a member that asked for it; unset: states are not signed here
  Hash128 challenge{};                    // HoldingProof; zero: an older coordinator, which wants no proof
};

// Everything that is due, in one answer.
struct HeartbeatReply {
  RunState run_state = RunState::created;
  RoundIndex round = 0;               // the round the swarm is working on
  Digest state_digest;                // the replicas' at its start; zero: nobody holds a state yet
  int lane = 0;                       // this member's sample lane
  std::vector<SampleLease> leases{};  // all that this process holds, by number
  SwarmFigures swarm;
  // Every report of a round below this is settled; drop it. Beyond `round` it says that the member's results from
  // `round` on are void, because their groups came to no decision: it must return to state_digest.
  RoundIndex acknowledged_rounds = 0;
  std::int64_t next_heartbeat_ms = 1000;
  std::int64_t server_unix_ms = 0;  // the coordinator's wall clock
  bool renew_certificate = false;
  std::optional<GroupInfo> group;  // the averaging this member must take part in
  std::vector<Endpoint> donors;    // members that hold state_digest, when this member does not
  KeptForMembers kept;
  bool send_checkpoint = false;  // it is this member's turn to send the coordinator the state it holds, state_digest
  // It is this member's turn to measure the held-out loss of the state at the start of this round, once it is there.
  // "evaluate": true goes with it; from an older coordinator that stands alone, and means the state of `round`.
  std::optional<RoundIndex> evaluate_round;
  CreditFigures credited;
  SeenAddress seen;
  RelayDuty relaying;
  NamedMembers named;
  std::string notice;  // for the volunteer, e.g. why samples were refused; usually empty
};

// Writes reports, oldest first, within kReportsPerHeartbeatMax and kJsonBytesMax; the others go with a later heartbeat,
// since reports that are not acknowledged are sent again.
std::string encode(const Heartbeat& message);
std::string encode(const HeartbeatReply& message);

// corrupt for bytes that are not JSON; invalid_argument, naming the field, for values out of range.
Result<Heartbeat> decode_heartbeat(std::string_view json);
Result<HeartbeatReply> decode_heartbeat_reply(std::string_view json);

}  // namespace starling::wire
