// What goes into the coordinator's decisions and what comes out of them, as plain values.
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
#include "shared/swarm/plausible.h"
#include "shared/wire/messages.h"

namespace starling::core {

// The ledger takes no more in a line. What a member says beyond this is not believed.
using swarm::kMemberSamplesMax;
constexpr double kMemberSamplesPerSecondMax = 1e7;
constexpr std::size_t kRoundsAheadMax = 64;  // reports of rounds beyond the current one that are kept
// What is kept of reports, all rounds and members together: some hundred of the largest results for each round ahead.
// Members that agree share one result, so that only claims that contradict each other come near it.
constexpr std::size_t kReportBytesMax = 64 * 1024 * 1024;
// Decided rounds that the store has not taken yet, before planning stops: members keep their reports, and all
// of them must still fit in a heartbeat.
constexpr std::size_t kRoundsPendingMax = wire::kReportsPerHeartbeatMax - 4;

// Who calls, as the TLS handshake and the host table say.
struct MemberIdentity {
  PeerId peer;
  AccountId account = 0;
  std::string address;  // of the socket; others dial it at the member's listen_port
};

// Which hosts belong to the project: reports may name members that have not called since a restart.
class KnownHosts {
 public:
  virtual ~KnownHosts() = default;
  // Empty for unknown hosts. Must be quick: it is asked while decisions wait.
  [[nodiscard]] virtual std::optional<AccountId> account_of(const PeerId& peer) const = 0;
};

struct CoordinatorOptions {
  Duration heartbeat_min = std::chrono::milliseconds(50);
  Duration heartbeat_max = std::chrono::seconds(10);
  double heartbeats_per_s_max = 1000;                  // of the whole swarm: intervals grow with it
  Duration lead_min = std::chrono::milliseconds(100);  // between the plan and its start, at least
  Duration lead_max = std::chrono::seconds(3);
  Duration forget_floor = std::chrono::seconds(3);  // a silent member is kept at least so long
  Duration adopt_grace = std::chrono::seconds(10);  // without any holder of the state, before another is taken
  Duration report_grace_min = std::chrono::milliseconds(1000);  // from a grid's first report to the end of waiting …
  Duration report_grace_max = std::chrono::seconds(10);         // … for what its columns claim: it is decided anyway
  Duration welcome_min = std::chrono::milliseconds(500);        // a round is held open for newcomers at least …
  Duration welcome_max = std::chrono::seconds(10);              // … and at most so long, or two usual rounds; …
  // … or, for downloads that take longer, so long: all of these together get welcome_share of the time, of which so
  // much is saved up for several who come at once.
  Duration welcome_longest = std::chrono::minutes(5);
  Duration welcome_saved_max = std::chrono::minutes(1);
  int welcomes_in_a_row = 6;                             // rounds held open for the same newcomer; after that …
  double welcome_share = 0.05;                           // … it may hold them for at most this part of the time
  Duration report_patience = std::chrono::seconds(60);   // no plan without most of the last group while one averages
  Duration absence_patience = std::chrono::seconds(30);  // for silent members of a group that one has reported
  Duration settle = std::chrono::seconds(2);             // after a restart: members come back before anything is judged
  Duration quorum_patience = std::chrono::seconds(8);    // longer than members wait between calls to one that is away
  Duration averaging_max = std::chrono::minutes(30);     // a plan whose members say they average is kept so long
  Duration evaluation_interval = std::chrono::seconds(5);   // between held-out measurements, at least
  Duration evaluation_timeout = std::chrono::minutes(3);    // of those who measure, from the start of their round
  Duration checkpoint_interval = std::chrono::seconds(60);  // between two copies of the state, at least
  Duration checkpoint_patience = std::chrono::seconds(30);  // without a piece, before another member is asked
  Duration restore_grace =
      std::chrono::seconds(60);                     // without any holder of the state, before the copy is gone back to
  Duration left_out_for = std::chrono::minutes(5);  // whose line is too slow for the others' rounds
  std::size_t group_members_max = 512;              // a report of more would not fit in a heartbeat
  std::size_t relayed_members_max = 32;  // of a group that only meets at relays: each pair takes one of their streams
  bool dial_back = false;     // members are believed to be dialable once they have been dialled, not on their word
  wire::Endpoint relay = {};  // of the operator, for members that no volunteer relays for; `peer` is the relay itself
  std::uint64_t nonce = 1;    // differs at every start, so that group ids never repeat
};

struct LaneHolder {
  PeerId peer;
  int lane = 0;
};
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
struct SamplesTried {
  std::vector<SampleTried> tries;
  std::int64_t oldest_epoch = 0;  // tries of those before it are of no use any more
};
// A sample of an epoch that is not waited for any more: its gradient can not be had (lease_book.h).
struct SampleSetAside {
  std::int64_t epoch = 0;
  std::int64_t place = 0;
  friend bool operator==(const SampleSetAside&, const SampleSetAside&) = default;
};
// To one process of a member; told once it is stored.
struct LeasesDealt {
  PeerId peer;
  std::int64_t process = 0;
  std::vector<wire::SampleLease> leases;
};
struct RecoveredLeases {
  std::int64_t next_epoch = 0;            // above all that were ever dealt of
  std::vector<std::int64_t> open_epochs;  // of which not all samples are counted or set aside, and …
  std::vector<CountedSamples> counted;    // … what of these is, …
  std::vector<SampleSetAside> set_aside;  // … or need not be
  std::vector<SampleTried> tried;         // in vain, of open epochs
  std::vector<LeasesDealt> held;          // whose last round is not over
};

// The state that a round began with, as the run's rounds name it.
struct KnownState {
  RoundIndex round = 0;
  Digest state_digest;
};

// What the store knows of a run when the coordinator starts.
struct RecoveredRun {
  wire::RunState state = wire::RunState::created;
  RoundIndex round = 0;
  Digest state_digest;  // of the state at the start of `round`; zero when round is 0
  int survivors = 0;    // members that reported the round before
  std::vector<LaneHolder> lanes;
  std::vector<AccountSamples> credited;  // sums of this run's ledger
  std::vector<SeatedGroup> groups;       // that may decide `round`, and those of the round before
  GroupId last_group;                    // decided the round before; zero: no round is decided
  std::vector<Seat> last_credited;       // with the round before
  std::vector<KnownState> states;        // that the newest rounds began with, oldest first
  std::optional<RoundIndex> evaluated_round;
  std::optional<wire::Checkpoint> checkpoint;  // the newest copy of the state that is kept
  RecoveredLeases leases;
};

// Work for the store, in order. The shell keeps each until the store took it.
struct CreditedContribution {
  PeerId peer;
  AccountId account = 0;
  SampleCount samples = 0;  // at least 1
};
struct RoundDecided {
  RoundIndex round = 0;
  GroupId group;
  Digest state_digest;
  std::vector<CreditedContribution> contributions;
  std::vector<CountedSamples> counted;  // of leased samples; to be stored with the contributions, or not at all
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
// Samples that a member says it brought, beyond what it was credited with (claims.h).
struct ClaimUnconfirmed {
  RoundIndex round = 0;
  PeerId peer;
  AccountId account = 0;
  SampleCount samples = 0;  // at least 1
  WallTime wall;
};
struct LaneAssigned {
  LaneHolder holder;
  std::optional<PeerId> displaced;  // held the lane before and must give it up first
  WallTime wall;
};
// What one member measured of a state.
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
  RoundIndex reported_round = 0;  // of the adopted state
  Digest state_digest;
  Ground ground = Ground::copy;
};
// What a member was asked to send a copy of.
struct CheckpointWanted {
  RunId run_id;
  RoundIndex round = 0;
  Digest state_digest;
  std::int64_t bytes = 0;
};
// For the log: a member is left out of plans for what the others say of it, or is back.
struct SeatChanged {
  PeerId peer;
  bool sits_out = false;
  std::string why;  // as the volunteer is told
};
using StoreOp = std::variant<RoundDecided, GroupSeated, ClaimUnconfirmed, LaneAssigned, LeasesDealt, SamplesTried,
                             SampleSetAside, EvaluationStored, RunStateChanged, StateAdopted, SeatChanged>;

struct HeartbeatDecision {
  std::optional<Error> refusal;  // instead of the reply: another run (not_found), no lane free (resource_exhausted)
  wire::HeartbeatReply reply;
  std::vector<StoreOp> ops;
  std::optional<wire::Endpoint> dial_back;  // to be dialled once; on_dialled_back takes what came of it
};

// What two members may pass through the operator's relay.
struct RelayShare {
  RoundIndex round = 0;
  std::int64_t bytes_max = 0;  // in this round
};

// What pages and status show.
struct SwarmView {
  wire::RunState state = wire::RunState::created;
  RoundIndex round = 0;
  SampleCount samples_accumulated = 0;  // expected at this moment, at most the target while it is not reached
  SampleCount target_batch_size = 0;
  double samples_per_s = 0;
  int swarm_size = 0;  // members heard of lately
  int ready = 0;       // of these, members that hold the state and train
  int direct = 0;      // others can dial
  int relayed = 0;     // others can call at a relay only
  bool averaging = false;
  int less_relied_on = 0;  // own smaller parts than they could, or none, by what the others say of them
  int sitting_out = 0;     // of these, members that are left out of plans for that
  std::string plan;        // what the newest plan says of its choice; empty before the first
};

// Credit of `samples`: BOINC's cobblestones, 200 for a day at one GFLOPS.
double credit_of(double flops_per_sample, SampleCount samples);

}  // namespace starling::core
