// The answer to a member's call: the round in work, its group, the samples that it may use, the members that have the
// state, the errands that the coordinator has for it (a measurement, a copy of the state), the relay where it should
// wait for calls, and when to call again. Dispatcher keeps the books of everything that is dealt: lanes, leases,
// relays, turns.
//
// RunCoordinator calls admit() and on_call() for every heartbeat, and answer() once the call has had its consequences;
// Planner's Outlook and Judge's CreditBook come in as values. It sets a member's lane, reach and next call. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/checkpoint_turn.h"
#include "coordinator/core/credit_book.h"
#include "coordinator/core/evaluation_turn.h"
#include "coordinator/core/introductions.h"
#include "coordinator/core/lanes.h"
#include "coordinator/core/lease_book.h"
#include "coordinator/core/member.h"
#include "coordinator/core/planner.h"
#include "coordinator/core/reach.h"
#include "coordinator/core/run_status.h"
#include "coordinator/core/types.h"
#include "shared/protocol/unusable_samples.h"

namespace starling::wire {
struct Heartbeat;
struct HeartbeatReply;
}  // namespace starling::wire

namespace starling::core {

// Bounds a number that a member would refuse to read: it would refuse the whole reply.
SampleCount sendable(double samples);

// Answers calls.
class Dispatcher {
 public:
  // `settings` must outlive this object.
  Dispatcher(const RunSettings& settings, const RecoveredRun& recovered);

  // Gives the caller a lane. Returns the assignment to store, nothing if it has one already; resource_exhausted: none
  // is free.
  Result<std::optional<LaneAssigned>> admit(const PeerId& peer, RoundIndex round, const MemberTable& members);
  // Takes a call's measurement and its claims about the member's line. Returns an endpoint to dial once; the result
  // goes to on_dialled_back().
  std::optional<wire::Endpoint> on_call(TimePoint now, MemberTable& members, Member& member,
                                        const wire::Heartbeat& heartbeat);
  void on_dialled_back(TimePoint now, Member& member, const wire::Endpoint& tested, bool reached);
  void on_goodbye(const PeerId& peer) { reach_.on_gone(peer); }

  // The facts beyond the member that decide the answer.
  struct Situation {
    TimePoint now{};
    const RunStatus& run;
    MemberTable& members;  // donors are handed out in turn
    const CreditBook& credit;
    const Outlook& outlook;  // the member's
  };
  // Returns the answer to this call, but for its notice, and sets the member's next call. Adds leases to store.
  wire::HeartbeatReply answer(const Situation& at, Member& member, const wire::Heartbeat& heartbeat,
                              std::vector<StoreOp>& ops);
  // Returns what the volunteer should know about the part that its computer has; empty: nothing.
  [[nodiscard]] static std::string notice(const Situation& at, const Member& member);

  // Forgets relays of members that are gone and old introductions, and looks how many accounts train, and how many can
  // measure. Call it now and then.
  void sweep(TimePoint now, const MemberTable& members);
  // Returns the verdict on a measurement once it is over. `planned`: the round in work is planned.
  std::optional<EvaluationTurn::Verdict> conclude_evaluation(TimePoint now, const RunStatus& run,
                                                             const MemberTable& members, bool planned);
  // Notes samples that a member cannot use. Returns the rows to store.
  std::vector<StoreOp> on_unusable(const MemberIdentity& who, const wire::UnusableSamples& samples);

  [[nodiscard]] const EvaluationTurn& evaluation() const { return evaluation_; }
  [[nodiscard]] CheckpointTurn& checkpoint() { return checkpoint_; }
  // Returns null if the run's samples are not leased.
  [[nodiscard]] LeaseBook* leases() { return leases_ ? &*leases_ : nullptr; }
  // True if the member should wait for calls at the operator's relay.
  [[nodiscard]] bool uses_operator_relay(const PeerId& peer) const;

 private:
  void tell_state(const Situation& at, const Member& member, wire::HeartbeatReply& reply);
  void tell_reach(const Member& member, wire::HeartbeatReply& reply) const;
  void deal_leases(const Situation& at, Member& member, const wire::Heartbeat& heartbeat, wire::HeartbeatReply& reply,
                   std::vector<StoreOp>& ops);
  void call_back(const Situation& at, Member& member, Duration in, wire::HeartbeatReply& reply) const;
  [[nodiscard]] Duration interval_for(const Situation& at, const Member& member) const;
  [[nodiscard]] EvaluationTurn::Situation evaluation_situation(const RunStatus& run, bool planned) const;

  const RunSettings& settings_;
  LaneTable lanes_;
  ReachTable reach_;
  std::optional<LeaseBook> leases_;  // only if the run's samples are leased
  EvaluationTurn evaluation_;
  std::size_t measuring_accounts_ = 0;  // at the last sweep
  CheckpointTurn checkpoint_;
  Introductions introductions_;
};

}  // namespace starling::core
