// When a group averages, and who is in it. A plan is *frozen* shortly before the batch is full, so that every member
// hears of it at a call before the group starts; it ends when its round is decided, or is given up when it fails.
//
// RunCoordinator asks for a plan after every call and at every timer (make_plan), and tells of members' calls, of
// decided rounds and of plans that are given up. Dispatcher tells a member its Outlook; Judge reads plan(). The planner
// marks members: their seats (Member::seat), their join grace, and the pause of those whose lines are too slow. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/core/evaluation_turn.h"
#include "coordinator/core/join_grace.h"
#include "coordinator/core/member.h"
#include "coordinator/core/reports.h"
#include "coordinator/core/run_status.h"
#include "coordinator/core/types.h"
#include "shared/protocol/group_info.h"
#include "shared/swarm/plan.h"

namespace starling::core {

// A round that is not planned yet: its members compute.
struct Gathering {
  bool waited = false;  // the batch was full, and a member was waited for
};

// A round whose group is chosen.
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

// The round as one member should see it.
struct Outlook {
  std::optional<wire::GroupInfo> group;  // the group that it should join, in the form that it is sent
  std::optional<TimePoint> start;        // the plan's start, once the round is planned
  bool awaited = false;                  // the plan waits for this member
  TimePoint full = kNever;               // when the batch is expected to be full; kNever if nobody fills it
  Duration lead{};                       // a plan is frozen this long before its start
  double planned_samples_per_s = 0;      // the swarm's rate when the last plan was made; 0: there was none
  bool loads_in_vain = false;            // the swarm would be at another state before it had this one
};

// The batch of a decided plan: in another `later_s` seconds its group would have had the samples that it should have
// had, which take `batch_s`.
struct BatchFill {
  double later_s = 0;
  double batch_s = 0;
};

// Plans rounds.
class Planner {
 public:
  // `last_group`: members that averaged the round before, as far as that is known. `settings` must outlive this object.
  Planner(const RunSettings& settings, std::size_t last_group);

  // The facts beyond members and plans that decide.
  struct Situation {
    TimePoint now{};
    const RunStatus& run;
    const ReportBook& reports;         // a round that has been reported is not planned
    const EvaluationTurn& evaluation;  // the members that measure the state of the round
    std::size_t rounds_pending = 0;    // decided rounds that the store has not taken
  };
  // Makes the plan of the round in work if it is due. Returns the group whose accounts decide by it.
  std::optional<SeatedGroup> make_plan(const Situation& at, MemberTable& members);
  // Returns when a plan is due, as things are; kNever while there is nothing to plan.
  [[nodiscard]] TimePoint due_at(const Situation& at, const MemberTable& members) const;
  // True if the plan has started and nobody came, or it has no end.
  [[nodiscard]] bool has_failed(const Situation& at, const MemberTable& members) const;
  [[nodiscard]] Outlook outlook(const Situation& at, const MemberTable& members, const Member& member) const;

  // Notes a member's call. Returns how long after the plan's start it began, if this call is the first to say so, the
  // plan waits for it, and its computing explains as much: a call that was lost, once in a while, is no measure of how
  // long members take to begin, and the next groups do not wait for it.
  std::optional<Duration> on_call(TimePoint now, Member& member);
  // A member of the plan that the others waited for and that did not come.
  struct Absentee {
    PeerId peer;
    double rounds = 0;      // how many usual rounds the wait lasted
    bool calls_on = false;  // else it has told that it stopped, or has fallen silent
    bool said_so = false;   // it said that it averages
  };
  // Returns the members for which the plan's group waited, a good part of a usual round long, and that have not begun.
  // `unseen`: members that have not begun, most say, whatever they said themselves. Empty while the wait is not over.
  [[nodiscard]] std::vector<Absentee> absentees(const Situation& at, const MemberTable& members,
                                                const std::set<PeerId>& unseen = {}) const;
  // A member has said goodbye: it is no longer expected.
  void on_goodbye();
  // The round in work is decided by this group. `averaged`: the number of members that hold the new state.
  void on_decided(const GroupId& group, std::size_t averaged);
  // The swarm goes on from another state: the round's plan is void.
  void on_adopted();
  // This group can no longer decide the round; if it is the plan's, the round is planned again.
  void give_up(const GroupId& group);

  // Returns null while the round is not planned. Good until the plan changes.
  [[nodiscard]] const Plan* plan() const { return std::get_if<Plan>(&round_); }
  [[nodiscard]] RoundPhase phase(TimePoint now) const;
  // Returns the newest plan's reason for its choice, also when it is over; empty before the first.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // Returns how the plan's batch turned out whose group decided with these samples; nothing if that tells nothing.
  [[nodiscard]] std::optional<BatchFill> fill_of(const GroupId& decided, SampleCount brought, Duration lead) const;
  [[nodiscard]] Duration lead(const RunStatus& run, const MemberTable& members) const;

 private:
  [[nodiscard]] TimePoint full_at(TimePoint now, const RunStatus& run, const MemberTable& members) const;
  [[nodiscard]] bool may_plan(const Situation& at) const;
  [[nodiscard]] bool has_quorum(const Situation& at, const MemberTable& members);
  [[nodiscard]] Duration batch_waited_for(const Situation& at, const MemberTable& members) const;
  [[nodiscard]] std::vector<Member*> plannable(const Situation& at, MemberTable& members) const;
  [[nodiscard]] std::optional<SeatedGroup> freeze(const Situation& at, MemberTable& members,
                                                  const std::vector<Member*>& present);
  [[nodiscard]] swarm::PlanOptions options_of(const Situation& at, const MemberTable& members, const Plan& plan,
                                              const std::vector<Member*>& planned) const;
  [[nodiscard]] std::size_t columns_for(const std::vector<Member*>& present, const MemberTable& members) const;
  [[nodiscard]] std::size_t group_members_max() const;
  [[nodiscard]] std::vector<Member*> drawn_group(std::vector<Member*> members, RoundIndex round) const;
  [[nodiscard]] std::vector<Member*> waited_for(const std::vector<Member*>& members) const;
  [[nodiscard]] std::vector<Member*> latecomers(TimePoint now, MemberTable& members,
                                                const std::vector<Member*>& planned) const;
  [[nodiscard]] SeatedGroup seat(const Situation& at, MemberTable& members, Plan& plan,
                                 const std::vector<double>& ready_s) const;
  void limit_weights(const MemberTable& members, Plan& plan) const;
  [[nodiscard]] const wire::GroupInfo* group_for(const Situation& at, const Member& member) const;

  const RunSettings& settings_;
  JoinGrace grace_;
  std::variant<Gathering, Plan> round_;
  // The group of the round before, while it may be of use: a member that is still at its state may have the result.
  std::optional<wire::GroupInfo> ended_;
  std::string reason_;
  std::uint64_t plans_made_ = 0;
  double planned_rate_ = 0;         // samples a second of the swarm when the last plan was made
  std::size_t last_group_;          // members of the last round, except those that said goodbye
  TimePoint short_since_ = kNever;  // since when most of the last group are absent
};

}  // namespace starling::core
