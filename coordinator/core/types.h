// The inputs and outputs of the coordinator's decisions, as plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/core/electorate.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/checkpoint.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/sample_lease.h"
#include "shared/protocol/states.h"
#include "shared/swarm/plausible.h"

namespace starling::core {

// The ledger takes no more in a line. A member's claim beyond this is not believed.
using swarm::kMemberSamplesMax;
constexpr double kMemberSamplesPerSecondMax = 1e7;
constexpr std::size_t kRoundsAheadMax = 64;  // rounds beyond the current one whose reports are kept
// Memory for reports, all rounds and members together: some hundred of the largest results for each round ahead.
// Members that agree share one result, so that only claims that contradict each other come near it.
constexpr std::size_t kReportBytesMax = 64 * 1024 * 1024;
// The most decided rounds that the store has not taken yet; with more, planning stops. Members keep their reports, and
// all of them must still fit in a heartbeat.
constexpr std::size_t kRoundsPendingMax = wire::kReportsPerHeartbeatMax - 4;

// The caller's identity, from the TLS handshake and the host table.
struct MemberIdentity {
  PeerId peer;
  AccountId account = 0;
  std::string address;  // the socket's; others dial it at the member's listen_port
};

// The hosts that belong to the project: reports may name members that have not called since a restart.
class KnownHosts {
 public:
  virtual ~KnownHosts() = default;
  // Returns nothing for unknown hosts. It must be quick, because decisions wait for it.
  [[nodiscard]] virtual std::optional<AccountId> account_of(const PeerId& peer) const = 0;
};

// Times, limits and choices of a run's coordination, fixed while it is served.
struct CoordinatorOptions {
  Duration heartbeat_min = std::chrono::milliseconds(50);
  Duration heartbeat_max = std::chrono::seconds(10);
  double heartbeats_per_s_max = 1000;                  // for the whole swarm: intervals grow with it
  Duration lead_min = std::chrono::milliseconds(100);  // least time between the plan and its start
  Duration lead_max = std::chrono::seconds(3);
  Duration forget_floor = std::chrono::seconds(3);  // a silent member is kept at least this long
  Duration adopt_grace = std::chrono::seconds(10);  // time without any holder of the state before another is taken
  // least wait for the column claims of a grid, from its first report; the round is decided afterwards anyway
  Duration report_grace_min = std::chrono::milliseconds(1000);
  Duration report_grace_max = std::chrono::seconds(10);      // longest wait for these claims
  Duration join_grace_min = std::chrono::milliseconds(500);  // a round is held open for newcomers at least this long
  Duration join_grace_max = std::chrono::seconds(10);        // at most this long, or two usual rounds
  // Limit for downloads that take longer. All of these together get join_grace_share of the time; join_grace_saved_max
  // of it is saved up for several newcomers at once.
  Duration join_grace_longest = std::chrono::minutes(5);
  Duration join_grace_saved_max = std::chrono::minutes(1);
  int join_graces_in_a_row = 6;    // rounds held open in a row for one newcomer
  double join_grace_share = 0.05;  // the fraction of the time that it may hold rounds open after that
  // no plan without most of the last group while a member averages
  Duration report_patience = std::chrono::seconds(60);
  Duration absence_patience = std::chrono::seconds(30);  // for silent members of a group whose result was reported
  Duration settle = std::chrono::seconds(2);             // after a restart: members come back before anything is judged
  Duration quorum_patience = std::chrono::seconds(8);    // longer than members wait between calls to one that is away
  // longer than members wait between calls to a coordinator that is away
  Duration averaging_max = std::chrono::minutes(30);
  // a plan whose members report that they average is kept this long
  Duration evaluation_interval = std::chrono::seconds(5);
  Duration evaluation_timeout = std::chrono::minutes(3);    // least time between held-out measurements
  Duration checkpoint_interval = std::chrono::seconds(60);  // time for a measurement, from the start of its round
  Duration checkpoint_patience = std::chrono::seconds(30);  // least time between two copies of the state
  Duration restore_grace =
      std::chrono::seconds(60);  // time without any holder of the state before the run goes back to the copy
  Duration left_out_for = std::chrono::minutes(5);  // for a member whose line is too slow for the others' rounds
  std::size_t group_members_max = 512;              // a report of more would not fit in a heartbeat
  // in a group that only meets at relays: each pair takes one of the relays' streams
  std::size_t relayed_members_max = 32;
  bool dial_back = false;     // members are believed to be dialable once they have been dialled, not on their word
  wire::Endpoint relay = {};  // the operator's, for members that no volunteer relays for; `peer` is the relay itself
  std::uint64_t nonce = 1;    // differs at every start, so that group ids never repeat
};

// A member with its lane, the part of the data's order that its samples come from.
struct LaneHolder {
  PeerId peer;
  int lane = 0;
};

// Samples that were credited to one account in this run.
struct AccountSamples {
  AccountId account = 0;
  SampleCount samples = 0;
};

// Samples of an epoch that a contribution counts (lease_book.h).
struct CountedSamples {
  PeerId peer;
  std::int64_t epoch = 0;
  std::int64_t first = 0;
  SampleCount count = 0;
  friend bool operator==(const CountedSamples&, const CountedSamples&) = default;
};
// A sample that a peer of the account could not use, under the lease that is good until that round (lease_book.h).
struct SampleTried {
  std::int64_t epoch = 0;
  std::int64_t place = 0;
  PeerId peer;
  AccountId account = 0;
  RoundIndex last_round = 0;
};

// Failed tries of leased samples since the last op of this kind.
struct SamplesTried {
  std::vector<SampleTried> tries;
  std::int64_t oldest_epoch = 0;  // tries of epochs before it are of no use any more
};
// A sample of an epoch that is not waited for any more, because its gradient cannot be had (lease_book.h).
struct SampleSetAside {
  std::int64_t epoch = 0;
  std::int64_t place = 0;
  friend bool operator==(const SampleSetAside&, const SampleSetAside&) = default;
};
// Leases for one process of a member; they are announced once they are stored.
struct LeasesDealt {
  PeerId peer;
  std::int64_t process = 0;
  std::vector<wire::SampleLease> leases;
};

// The leased samples as the store has them when a run begins to be served.
struct RecoveredLeases {
  std::int64_t next_epoch = 0;            // above all epochs that samples were ever dealt from
  std::vector<std::int64_t> open_epochs;  // epochs with samples that are neither counted nor set aside
  std::vector<CountedSamples> counted;    // the counted samples of open epochs
  std::vector<SampleSetAside> set_aside;  // the samples of open epochs that were set aside
  std::vector<SampleTried> tried;         // failed tries of samples of open epochs
  std::vector<LeasesDealt> held;          // leases whose last round is not over
};

// The state that a round began with, as the run's rounds name it.
struct KnownState {
  RoundIndex round = 0;
  Digest state_digest;
};

// The store's knowledge of a run when the coordinator starts.
struct RecoveredRun {
  wire::RunState state = wire::RunState::created;
  RoundIndex round = 0;
  Digest state_digest;  // the state at the start of `round`; zero when round is 0
  int survivors = 0;    // members that reported the round before
  std::vector<LaneHolder> lanes;
  std::vector<AccountSamples> credited;  // sums of this run's ledger
  std::vector<SeatedGroup> groups;       // those that may decide `round`, and those of the round before
  GroupId last_group;                    // the group that decided the round before; zero: no round is decided
  std::vector<Seat> last_credited;       // credited with the round before
  std::vector<KnownState> states;        // those that the newest rounds began with, oldest first
  std::optional<RoundIndex> evaluated_round;
  std::optional<wire::Checkpoint> checkpoint;  // the newest copy of the state that is kept
  RecoveredLeases leases;
};

// Work for the store, in order. The shell keeps each item until the store has taken it.
struct CreditedContribution {
  PeerId peer;
  AccountId account = 0;
  SampleCount samples = 0;  // at least 1
};

// A round whose result counts. The store writes all of it in one transaction.
struct RoundDecided {
  RoundIndex round = 0;
  GroupId group;
  Digest state_digest;
  std::vector<CreditedContribution> contributions;
  std::vector<CountedSamples> counted;  // leased samples; to be stored with the contributions, or not at all
  double loss = 0;                      // mean over the reporters, nats per predicted token
  int survivors = 0;                    // members that averaged to the end, as far as they have reported
  std::int64_t averaging_ms = 0;
  WallTime wall;
  std::optional<SeatedGroup> successor;  // may decide the next round; to be stored with this one
};
// A group that may decide its round. It is of use until the round after its own is decided.
struct GroupSeated {
  SeatedGroup group;
};
// Samples that a member claims beyond those it was credited with (claims.h).
struct ClaimUnconfirmed {
  RoundIndex round = 0;
  PeerId peer;
  AccountId account = 0;
  SampleCount samples = 0;  // at least 1
  WallTime wall;
};

// A member has a lane from now on, across restarts of the coordinator.
struct LaneAssigned {
  LaneHolder holder;
  std::optional<PeerId> displaced;  // held the lane before and must give it up first
  WallTime wall;
};
// One member's measurement of a state.
struct EvaluationFigure {
  PeerId peer;
  double bits_per_byte = 0;
  std::int64_t bytes = 0;
  std::optional<double> accuracy{};
};
// A figure that is believed, one for each member that measured it; a single one of a round is unconfirmed.
struct EvaluationStored {
  RoundIndex round = 0;
  PeerId peer;
  double bits_per_byte = 0;
  std::int64_t bytes = 0;
  std::optional<double> accuracy;
  WallTime wall;
};

// The run has ended by itself: it has taken all of its rounds.
struct RunStateChanged {
  wire::RunState state = wire::RunState::complete;
};
// For the log: nobody held the state any more, so another was taken. The round becomes that state's own number where it
// is higher; it never goes back.
struct StateAdopted {
  enum class Ground : std::uint8_t {
    vouched,  // most accounts of the last decided group hold it
    decided,  // members hold it, and a decided round began with it
    copy,     // it is the copy that is kept here
  };
  RoundIndex round = 0;           // from now on
  RoundIndex reported_round = 0;  // the adopted state's
  Digest state_digest;
  Ground ground = Ground::copy;
};
// The state that a member was asked to send a copy of.
struct CheckpointWanted {
  RunId run_id;
  RoundIndex round = 0;
  Digest state_digest;
  std::int64_t bytes = 0;
};
// For the log: a member is left out of plans because of the others' reports about it, or is back.
struct SeatChanged {
  PeerId peer;
  bool sits_out = false;
  std::string why;  // the text that the volunteer sees
};
using StoreOp = std::variant<RoundDecided, GroupSeated, ClaimUnconfirmed, LaneAssigned, LeasesDealt, SamplesTried,
                             SampleSetAside, EvaluationStored, RunStateChanged, StateAdopted, SeatChanged>;

// The answer to a heartbeat, and everything that must be stored before it is sent.
struct HeartbeatDecision {
  std::optional<Error> refusal;  // instead of the reply: another run (not_found), no lane free (resource_exhausted)
  wire::HeartbeatReply reply;
  std::vector<StoreOp> ops;
  std::optional<wire::Endpoint> dial_back;  // an endpoint to dial once; on_dialled_back takes the result
};

// The volume that two members may pass through the operator's relay.
struct RelayShare {
  RoundIndex round = 0;
  std::int64_t bytes_max = 0;  // in this round
};

// The view that pages and status show.
struct SwarmView {
  wire::RunState state = wire::RunState::created;
  RoundIndex round = 0;
  SampleCount samples_accumulated = 0;  // expected at this moment, at most the target while it is not reached
  SampleCount target_batch_size = 0;
  double samples_per_s = 0;
  int swarm_size = 0;  // members heard of lately
  int ready = 0;       // members that hold the state and train
  int direct = 0;      // members that others can dial
  int relayed = 0;     // members that others can call at a relay only
  bool averaging = false;
  int less_relied_on = 0;  // own smaller parts than they could, or none, because of the others' reports
  int sitting_out = 0;     // members of these that are left out of plans
  std::string plan;        // the newest plan's reason for its choice; empty before the first
};

// Returns the credit of `samples` in BOINC's cobblestones, 200 for a day at one GFLOPS.
double credit_earned(double flops_per_sample, SampleCount samples);

}  // namespace starling::core
