// Audits in the run: brings the book what happens in rounds, and its findings into the ledger and the plans. Pure.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "coordinator/core/audit_book.h"
#include "coordinator/core/judge.h"
#include "coordinator/core/lease_book.h"
#include "coordinator/core/member.h"
#include "coordinator/core/planner.h"
#include "coordinator/core/run_status.h"
#include "coordinator/core/types.h"

namespace starling::wire {
struct Heartbeat;
struct HeartbeatReply;
}  // namespace starling::wire

namespace starling::core {

class AuditDesk {
 public:
  // `settings` must outlive this object.
  AuditDesk(const RunSettings& settings, const RecoveredRun& recovered);

  [[nodiscard]] bool active() const { return book_.active(); }
  // The error tells a volunteer whose program is older than checks of work that it has to be updated.
  [[nodiscard]] Status can_take_part(const wire::Heartbeat& heartbeat) const;
  // Binds the plan that the reply brings to the number of its audits.
  void bind(wire::HeartbeatReply& reply) const;
  // See AuditBook. A check takes seconds, however short rounds are: no credit is final before a minute.
  [[nodiscard]] RoundIndex final_below(RoundIndex round) const;
  void on_call(const PeerId& peer, const wire::Heartbeat& heartbeat);
  // The round in work, which began with this state, is decided. plan: the one that dealt its group; null if none did.
  struct Round {
    RoundIndex round = 0;
    Digest base_digest;
    const Plan* plan = nullptr;
    const Decision& decision;
  };
  void on_decided(TimePoint now, const Round& round, const MemberTable& members, const LeaseBook* leases);
  [[nodiscard]] std::vector<ClassFigures> classes() const { return book_.classes().figures(); }
  // Returns members whose word was false: auditors and owners.
  std::vector<PeerId> sweep(TimePoint now, WallTime wall, const MemberTable& members, std::vector<StoreOp>& ops);
  // Notes in the standing of members which of them have no place in plans, and which may own no part.
  void judge(RoundIndex round, MemberTable& members) const;
  void judge(RoundIndex round, Member& member) const;
  // The audits that are due at the member. pending: samples of its account whose credit is not final.
  [[nodiscard]] wire::AuditsDue due(RoundIndex round, const PeerId& peer, SampleCount pending) const;

 private:
  [[nodiscard]] RoundMember audited_member(TimePoint now, const Round& round, const wire::GroupMember& place,
                                           const MemberTable& members, const LeaseBook* leases) const;
  void conclude(const AuditFinding& finding, WallTime wall, std::vector<StoreOp>& ops);
  void forget_decided(TimePoint now);

  const RunSettings& settings_;
  AuditBook book_;
  std::vector<CreditVoided> late_;  // credit of members that are out, in rounds that were planned before
  std::int64_t owners_off_ = 0;     // rounds in which an owner's part was off
  RoundIndex final_below_ = 0;      // the last decided round has made credit of rounds before this one final
  std::deque<std::pair<RoundIndex, TimePoint>> decided_;  // during the last minute
};

}  // namespace starling::core
