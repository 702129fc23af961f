// The inside of RunCoordinator, shared by the files that decide (deciding.cpp), plan (planning.cpp) and talk to members
// (run_coordinator.cpp).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/cadence.h"
#include "coordinator/core/checkpoint_turn.h"
#include "coordinator/core/claims.h"
#include "coordinator/core/electorate.h"
#include "coordinator/core/evaluation_turn.h"
#include "coordinator/core/known_states.h"
#include "coordinator/core/lanes.h"
#include "coordinator/core/lease_book.h"
#include "coordinator/core/member.h"
#include "coordinator/core/reach.h"
#include "coordinator/core/reports.h"
#include "coordinator/core/reputation.h"
#include "coordinator/core/run_coordinator.h"
#include "coordinator/core/types.h"

namespace starling::core {

// The round's plan as the coordinator gave it out, kept until the round is decided or planned again.
struct Plan {
  GroupId id;                           // the id that members report
  std::vector<wire::GroupInfo> groups;  // one, or the columns of a grid
  TimePoint start{};
  TimePoint begin_by{};  // the others leave out a member that has not begun by then
  std::uint64_t serial = 0;
  double samples = 0;        // samples that its members should bring together
  double samples_per_s = 0;  // samples that they add in a second
};

// The longest that a heartbeat that says "averaging" may take.
constexpr Duration kBeginSlack = std::chrono::seconds(1);

// A decision of a group's accounts. The references are good until reports or groups change.
struct Verdict {
  const SeatedGroup& group;
  const ResultClass& result;
  // those that count; in a grid, those of columns whose quorum has reported
  std::vector<wire::Contribution> contributions;
  std::set<PeerId> holders;
};

class RunCoordinator::Impl {
 public:
  Impl(const wire::RunManifest& manifest, std::int64_t vector_floats, const RecoveredRun& recovered,
       const KnownHosts& known_hosts, const CoordinatorOptions& options);

  HeartbeatDecision on_heartbeat(TimePoint now, WallTime wall, const MemberIdentity& who,
                                 const wire::Heartbeat& heartbeat);
  std::vector<StoreOp> on_timer(TimePoint now, WallTime wall);
  [[nodiscard]] TimePoint next_deadline() const;
  void on_stored(RoundIndex round);
  void on_refused(RoundIndex round);
  [[nodiscard]] Result<std::vector<StoreOp>> on_unusable(const MemberIdentity& who,
                                                         const wire::UnusableSamples& samples);
  void on_leases_stored(const LeasesDealt& dealt) { leases_->on_stored(dealt); }
  void on_leases_refused(const LeasesDealt& dealt) { leases_->on_refused(dealt); }
  void set_credited(const std::vector<AccountSamples>& sums);
  void set_state(wire::RunState state);
  void on_dialled_back(TimePoint now, const wire::Endpoint& tested, bool reached);
  [[nodiscard]] bool uses_operator_relay(const PeerId& peer) const;
  [[nodiscard]] std::optional<RelayShare> operator_relay_share(const PeerId& a, const PeerId& b) const;
  std::optional<CheckpointWanted> on_checkpoint_piece(TimePoint now, const PeerId& peer);
  void on_checkpoint_kept(TimePoint now, const wire::Checkpoint& checkpoint) { checkpoint_.kept(now, checkpoint); }
  void on_checkpoint_failed(TimePoint now, const PeerId& peer) { checkpoint_.given_up(now, peer); }
  [[nodiscard]] SwarmView view(TimePoint now) const;
  [[nodiscard]] std::vector<swarm::Host> hosts() const;

 private:
  using Ops = std::vector<StoreOp>;

  // Talking to members (run_coordinator.cpp).
  void recover_electorate(const RecoveredRun& recovered);
  [[nodiscard]] EvaluationTurn::Situation evaluation_situation() const;
  void conclude_evaluation(TimePoint now, WallTime wall, Ops& ops);
  [[nodiscard]] Status check_run(const RunId& run_id) const;
  void note_reports(TimePoint now, Member& member, const wire::Heartbeat& heartbeat) const;
  void note_catching_up(TimePoint now, Member& member);
  void deal_leases(Member& member, const wire::Heartbeat& heartbeat, HeartbeatDecision& decision);
  [[nodiscard]] wire::HeartbeatReply reply_to(TimePoint now, Member& member);
  void tell_state(TimePoint now, const Member& member, wire::HeartbeatReply& reply);
  [[nodiscard]] bool sends_fast(const Member& member) const;
  void tell_reach(const Member& member, wire::HeartbeatReply& reply) const;
  [[nodiscard]] Duration interval_for(TimePoint now, const Member& member) const;
  [[nodiscard]] const wire::GroupInfo* plan_for(TimePoint now, const Member& member) const;
  void sweep(TimePoint now, WallTime wall, Ops& ops);
  [[nodiscard]] std::size_t accounts_that_train() const;

  // Which results count (deciding.cpp).
  [[nodiscard]] std::string take_report(TimePoint now, WallTime wall, const PeerId& reporter,
                                        const wire::RoundReport& report, Ops& ops);
  void note_claim(RoundIndex round, WallTime wall, const PeerId& peer, SampleCount claimed, Ops& ops);
  [[nodiscard]] Status check(const wire::RoundReport& report, const PeerId& reporter);
  [[nodiscard]] bool is_voucher(const PeerId& peer) const;
  void seat_vouched(const GroupId& id);
  void hear_of_members(const PeerId& reporter, const wire::RoundReport& report);
  void judge_members(Ops& ops);
  void decide_rounds(TimePoint now, WallTime wall, Ops& ops);
  [[nodiscard]] std::optional<Verdict> decided_now(TimePoint now) const;
  // `group` and `results` outlive the function that it returns.
  [[nodiscard]] std::function<Ballot(const PeerId&)> ballots(TimePoint now, const SeatedGroup& group,
                                                             const std::vector<HeldResult>& results) const;
  [[nodiscard]] bool may_still_report(TimePoint now, const SeatedGroup& group, const PeerId& peer) const;
  [[nodiscard]] bool add_column_claims(TimePoint now, const SeatedGroup& group, const ResultClass& version,
                                       Verdict& verdict) const;
  void give_up_hopeless_groups(TimePoint now);
  void give_up(const GroupId& group);
  void decide(TimePoint now, WallTime wall, const Verdict& verdict, Ops& ops);
  void seat_successor(const Verdict& verdict, std::vector<Seat> contributors,
                      const std::optional<SeatedGroup>& successor);
  void enter_round(TimePoint now, RoundIndex round, const Digest& canonical, const std::vector<PeerId>& averaged,
                   Ops& ops);
  void find_lost_state(TimePoint now, Ops& ops);
  void learn_lag(const Verdict& verdict);
  [[nodiscard]] std::optional<StateAdopted> state_to_adopt(TimePoint now) const;
  [[nodiscard]] std::optional<StateAdopted> vouched_state() const;
  void complete_if_done(Ops& ops);

  // When a group averages (planning.cpp).
  void plan_round(TimePoint now, Ops& ops);
  [[nodiscard]] bool somebody_averages(TimePoint now) const;
  [[nodiscard]] bool may_plan(TimePoint now) const;
  [[nodiscard]] bool has_quorum(TimePoint now);
  void freeze(TimePoint now, const std::vector<Member*>& members, Ops& ops);
  [[nodiscard]] std::size_t columns_for(std::span<const wire::MemberInfo> members) const;
  [[nodiscard]] std::size_t group_members_max() const;
  void seat(Plan& plan, const std::vector<double>& ready_s, Ops& ops);
  void number_voters(std::vector<wire::GroupInfo>& groups);
  [[nodiscard]] bool takes_result(const Member& member, TimePoint now) const;
  [[nodiscard]] std::vector<Member*> plannable(TimePoint now);
  [[nodiscard]] std::vector<Member*> latecomers(TimePoint now, const std::vector<Member*>& members);
  [[nodiscard]] bool have_met(const std::vector<Member*>& members) const;
  [[nodiscard]] std::vector<Member*> drawn_group(std::vector<Member*> members) const;
  [[nodiscard]] Duration download_time(const Member& member) const;
  [[nodiscard]] Duration join_grace_of(const Member& member) const;
  [[nodiscard]] bool loads_in_vain(const Member& member) const;
  void note_join_grace(TimePoint now, Member& member, Duration held);
  void note_long_join_grace(TimePoint now, Duration held);
  void drop_failed_plan(TimePoint now);
  [[nodiscard]] Duration lead() const;
  [[nodiscard]] TimePoint full_at(TimePoint now) const;

  void advance(TimePoint now, WallTime wall, Ops& ops);

  const wire::RunManifest manifest_;
  const std::int64_t vector_floats_;
  const KnownHosts& known_hosts_;
  const CoordinatorOptions options_;

  wire::RunState state_;
  RoundIndex round_;
  Digest canonical_;
  MemberTable members_;
  ReachTable reach_;
  LaneTable lanes_;
  std::optional<LeaseBook> leases_;  // only if the run's samples are leased
  ElectorateBook electorates_;
  std::vector<Seat> last_electorate_;  // the seats of the group that decided the round before
  std::vector<Seat> vouchers_;         // the electorate of the round before, while groups may have been forgotten
  KnownStates known_states_;
  ReportBook reports_;
  ClaimBook claims_;
  Reputation reputation_;
  EvaluationTurn evaluation_;
  CheckpointTurn checkpoint_;
  Rhythm rhythm_;

  std::optional<Plan> plan_;
  std::optional<wire::GroupInfo>
      ended_;                // the group of the round before: a member that is still at its state may have the result
  std::string plan_reason_;  // the newest plan's, also when it is over
  std::uint64_t plans_made_ = 0;
  double planned_rate_ = 0;  // samples a second of the swarm when the last plan was made
  bool held_ = false;        // the round's batch was full, and a member was waited for
  TimePoint round_began_{};
  bool rhythm_known_ = false;                           // round_began_ is the end of a round, not of an absence
  TimePoint long_join_grace_again_ = TimePoint::min();  // no round before this time is held open for longer than usual

  bool recovered_;              // the run had rounds before this coordinator started
  TimePoint started_ = kNever;  // first event
  TimePoint swept_{};
  TimePoint advanced_{};  // the last look at whether a plan is due
  TimePoint without_holder_since_ = kNever;
  std::size_t last_group_ = 0;      // members of the last round, except those that said goodbye
  TimePoint short_since_ = kNever;  // since when most of the last group are absent

  std::map<AccountId, SampleCount> credited_;
  std::deque<std::pair<RoundIndex, std::vector<AccountSamples>>> pending_credit_;  // decided, not durable
};

}  // namespace starling::core
