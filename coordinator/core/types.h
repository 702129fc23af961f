// The inputs and outputs of the coordinator's decisions, as plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/core/electorate.h"
#include "coordinator/core/state_chain_book.h"
#include "shared/base/clock.h"
#include "shared/base/epoch_samples.h"
#include "shared/base/ids.h"
#include "shared/base/peer_signature.h"
#include "shared/base/result.h"
#include "shared/protocol/checkpoint.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/round_report.h"
#include "shared/protocol/sample_lease.h"
#include "shared/protocol/states.h"
#include "shared/run/training_data.h"
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

// With fewer established accounts in the project, all have a voice.
constexpr std::int64_t kEstablishedEnough = 3;
// An account is established once others have confirmed its work in this many rounds.
constexpr int kConfirmedRounds = 10;

// The rights of an account beside contributing (docs/trust.md).
struct AccountStanding {
  bool established = true;  // the work of enough rounds was confirmed, or the operator answers for it
  // It votes, complains and measures, and owns parts like any other: it is established, or the project has too few
  // such accounts to go by.
  bool voice = true;
  bool auditor = false;  // the operator's own: what its computers compute decides checks of others' work
  bool watched = false;  // its work is always checked
};

// The hosts that belong to the project: reports may name members that have not called since a restart.
class KnownHosts {
 public:
  virtual ~KnownHosts() = default;
  // Returns nothing for unknown hosts. It must be quick, because decisions wait for it.
  [[nodiscard]] virtual std::optional<AccountId> account_of(const PeerId& peer) const = 0;
  // Quick, too; may lag behind by half a minute.
  [[nodiscard]] virtual AccountStanding standing_of(AccountId account) const = 0;
  // The signature is this host's, under exactly this text.
  [[nodiscard]] virtual bool has_signed(const PeerId& peer, std::span<const std::uint8_t> text,
                                        const PeerSignature& signature) const = 0;
};

// When members call, and when those that do not are forgotten.
struct HeartbeatOptions {
  Duration min = std::chrono::milliseconds(50);
  Duration max = std::chrono::seconds(10);
  double per_s_max = 1000;                          // for the whole swarm: intervals grow with it
  Duration forget_floor = std::chrono::seconds(3);  // a silent member is kept at least this long
};

// Limits of a plan.
struct PlanLimits {
  Duration lead_min = std::chrono::milliseconds(100);  // least time between the plan and its start
  Duration lead_max = std::chrono::seconds(3);
  std::size_t group_members_max = 512;  // a report of more would not fit in a heartbeat
  // in a group that only meets at relays: each pair takes one of the relays' streams
  std::size_t relayed_members_max = 32;
  Duration left_out_for = std::chrono::minutes(5);    // for a member whose line is too slow for the others' rounds
  Duration averaging_max = std::chrono::minutes(30);  // a plan whose members say that they average is kept this long
};

// How long rounds are held open for members that are getting the state (join_grace.h).
struct JoinGraceOptions {
  Duration min = std::chrono::milliseconds(500);
  Duration max = std::chrono::seconds(10);  // at most this long, or two usual rounds
  // Limit for downloads that take longer. All of these together get `share` of the time; saved_max of it is saved up
  // for several newcomers at once.
  Duration longest = std::chrono::minutes(5);
  Duration saved_max = std::chrono::minutes(1);
  int rounds_in_a_row = 6;  // held open for one newcomer
  double share = 0.05;      // the fraction of the time that it may hold rounds open after that
};

// How long the coordinator waits before it goes on without somebody.
struct Patience {
  Duration settle = std::chrono::seconds(2);  // after a restart: members come back before anything is judged
  // Least and longest wait for the column claims of a grid, from its first report; the round is decided afterwards
  // anyway.
  Duration column_claims_min = std::chrono::seconds(1);
  Duration column_claims_max = std::chrono::seconds(10);
  Duration absence = std::chrono::seconds(30);  // for silent members of a group whose result was reported
  // No plan is made without most of the last group for this time: longer than members wait between calls to a
  // coordinator that is away; and for `reports` while a member averages.
  Duration quorum = std::chrono::seconds(8);
  Duration reports = std::chrono::seconds(60);
  // Time without any holder of the state before another member's is taken, or the copy that is kept here.
  Duration adopt = std::chrono::seconds(10);
  Duration restore = std::chrono::seconds(60);
};

// Held-out measurements (evaluation_turn.h).
struct EvaluationOptions {
  Duration interval = std::chrono::seconds(5);  // least time between two
  Duration timeout = std::chrono::minutes(3);   // time for one, from the start of its round
};

// Copies of the state (checkpoint_turn.h).
struct CheckpointOptions {
  Duration interval = std::chrono::seconds(60);  // least time between two
  Duration patience = std::chrono::seconds(30);  // time without a piece before another member is asked
};

// Samples that a member has drawn, in their order.
struct DrawnSamples {
  wire::SampleRange range;
  bool passed_over = false;  // they count, and add nothing: they have no gradient
};

// The operator's choices and the limits of the coordinator's decisions. The defaults suit every swarm.
struct CoordinatorOptions {
  HeartbeatOptions heartbeats{};
  PlanLimits plans{};
  JoinGraceOptions join_grace{};
  Patience patience{};
  EvaluationOptions evaluation{};
  CheckpointOptions checkpoints{};
  bool dial_back = false;     // members are believed to be dialable once they have been dialled, not on their word
  wire::Endpoint relay = {};  // the operator's, for members that no volunteer relays for; `peer` is the relay itself
  std::shared_ptr<const StateSigner> signer = {};  // null: states are not signed
  std::uint64_t nonce = 1;                         // differs at every start, so that group ids never repeat
  Digest audit_secret = {};  // drawn at every start, and told to nobody: who is audited follows from it
  // Returns how many of an account's samples in a decided round earn credit; empty: all.
  std::function<SampleCount(AccountId account, SampleCount samples)> earning = {};
};

// A member and its sample lane.
struct LaneHolder {
  PeerId peer;
  int lane = 0;
};
// Samples that an account is credited with.
struct AccountSamples {
  AccountId account = 0;
  SampleCount samples = 0;
};

// New failed tries, and the epochs whose tries may be forgotten.
struct SamplesTried {
  std::vector<SampleTried> tries;
  std::int64_t oldest_epoch = 0;  // tries of epochs before it are of no use any more
};
// Leases for one process of a member; they are announced once they are stored.
struct LeasesDealt {
  PeerId peer;
  std::int64_t process = 0;
  std::vector<wire::SampleLease> leases;
};
// The leases and samples of a run as the store has them when the coordinator starts.
struct RecoveredLeases {
  std::int64_t next_epoch = 0;            // above all epochs that samples were ever dealt from
  std::vector<std::int64_t> open_epochs;  // epochs with samples that are neither counted nor set aside
  std::vector<CountedSamples> counted;    // the counted samples of open epochs
  std::vector<SampleSetAside> set_aside;  // the samples of open epochs that were set aside
  std::vector<SampleTried> tried;         // failed tries of samples of open epochs
  std::vector<LeasesDealt> held;          // leases whose last round is not over
};

// The audits of one computer as the store has them when the coordinator starts.
struct RecoveredAudits {
  PeerId peer;
  std::int64_t checks = 0;  // that were right
  int clean = 0;            // these in a row, since the last miss
  int misses = 0;
  RoundIndex last_miss = 0;  // the round of the last one
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
  RecoveredChain chain;
  std::vector<RecoveredAudits> audits;

  // The state with which the run goes on: the chain leads to states that were taken since a round was stored last. A
  // zero digest: the initial one.
  [[nodiscard]] KnownState current() const {
    const std::optional<KnownState> proven = chain.newest();
    return proven && proven->round >= round ? *proven : KnownState{round, state_digest};
  }
};

// Work for the store, in order. The shell keeps each item until the store has taken it.

// A line of the ledger.
struct CreditedContribution {
  PeerId peer;
  AccountId account = 0;
  SampleCount samples = 0;  // at least 1
};
// A decided round, to be stored whole or not at all.
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
  ChainGrowth chain;                     // to be stored with this round
  std::vector<AccountId> confirmed;      // accounts on probation, each once, whose work another account vouched for
  RoundIndex final_below = 0;            // credit of rounds before it is final from now on; 0: leave it as it is
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
// A computer of the account told the coordinator a result that it cannot have: the account is on probation, and none of
// its rounds so far counts as confirmed.
struct ProbationRestarted {
  AccountId account = 0;
};
// Credit of a computer that is taken back: its lines of rounds from `from` on that are not final, of rounds decided
// before this.
struct CreditVoided {
  PeerId peer;
  AccountId account = 0;
  RoundIndex from = 0;
  std::string reason;
  WallTime wall;
};
// Audits have found false work of a computer of the account too often.
struct AccountBanned {
  AccountId account = 0;
  std::string reason;
  WallTime wall;
};
// The finding of an audit of a computer's round.
enum class AuditVerdict : std::uint8_t {
  clean,
  missed,
  unchecked,  // nobody could check it in time
};
// The result of an audit, one for each computer and round.
struct AuditStored {
  RoundIndex round = 0;
  PeerId peer;
  AccountId account = 0;
  AuditVerdict verdict = AuditVerdict::clean;
  std::vector<PeerId> auditors;
  double distance = 0;  // relative
  std::string why;
  WallTime wall;
};
// A member has a new lane.
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
// The run is complete.
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
// The project states by itself which state the run goes on from.
struct StateStated {
  ChainGrowth chain;
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
using StoreOp = std::variant<RoundDecided, GroupSeated, ClaimUnconfirmed, ProbationRestarted, LaneAssigned, LeasesDealt,
                             SamplesTried, SampleSetAside, EvaluationStored, RunStateChanged, StateAdopted, StateStated,
                             SeatChanged, CreditVoided, AuditStored, AccountBanned>;

// The volume that two members may pass through the operator's relay.
struct RelayShare {
  RoundIndex round = 0;
  std::int64_t bytes_max = 0;  // in this round
};

// The round in work, from its first sample to its decision.
enum class RoundPhase : std::uint8_t {
  gathering,  // members compute its batch
  waiting,    // the batch is full, and a member is waited for
  announced,  // a plan is made, and members hear of it
  averaging,  // the plan's group has started
};

// An account's part in the cells of the run's model.
struct CellShare {
  AccountId account = 0;
  int computers = 0;       // that hold any
  int cells = 0;           // they have the state of these
  int alone = 0;           // and nobody else has the state of these
  std::int64_t calls = 0;  // that they have answered since the coordinator began, as callers say
};

// The number of members that hold the state of each cell of the run's model (shared/run/cells.h); none where it is not
// cut.
struct CellCover {
  std::vector<int> holders;
  int wanted = 0;                      // holders that each is to have
  std::vector<CellShare> shares = {};  // those with most cells first
  std::int64_t calls = 0;              // answered since the coordinator began, as callers say
  // Cells with at least `least` holders.
  [[nodiscard]] std::int64_t held_by(int least) const {
    return std::count_if(holders.begin(), holders.end(), [least](int count) { return count >= least; });
  }
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
  RoundPhase phase = RoundPhase::gathering;
  int less_relied_on = 0;  // own smaller parts than they could, or none, because of the others' reports
  int sitting_out = 0;     // members of these that are left out of plans
  std::string plan;        // the newest plan's reason for its choice; empty before the first
  CellCover cells{};
};

// Returns the credit of `samples` in BOINC's cobblestones, 200 for a day at one GFLOPS.
double credit_earned(double flops_per_sample, SampleCount samples);

}  // namespace starling::core
