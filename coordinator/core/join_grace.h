// Join grace: the rounds that are held open for members that are getting the state, and how long. Without it a swarm
// with short rounds would never let anybody in; without its limits one slow line would hold up everybody. Pure.
//
// The figures of one newcomer are in Member::grace. This class decides by them, and by the time that newcomers with
// long downloads have used together. Planner owns it: it asks for the grace of each member before it makes a plan.
#pragma once

#include <optional>

#include "coordinator/core/member.h"
#include "coordinator/core/run_status.h"

namespace starling::core {

// Decides how long the round in work is held open, and for whom.
class JoinGrace {
 public:
  // `settings` must outlive this object.
  explicit JoinGrace(const RunSettings& settings) : settings_(settings) {}

  // Notes a member's call, after it was judged. Returns how long it took to get the state, or the part of that time
  // that lies in the round in work, when it has just become ready.
  static std::optional<Duration> on_call(TimePoint now, const RunStatus& run, Member& member);
  // Returns how long the round in work waits for this member, counted from its start; zero: not at all.
  [[nodiscard]] Duration of(const Member& member, const RunStatus& run) const;
  // True if the swarm would be at another state before this member has arrived: it would take the donors' lines for
  // nothing, again and again. A member that no round waits for may try all the same: its line may be faster than it has
  // shown.
  [[nodiscard]] bool loads_in_vain(const Member& member, const RunStatus& run) const;
  // The round in work is planned. It was held open for all members that of() names and that call in time; `waited`: it
  // could have been planned sooner.
  void on_planned(TimePoint now, const RunStatus& run, MemberTable& members, bool waited);

 private:
  [[nodiscard]] Duration download_time(const Member& member) const;

  const RunSettings& settings_;
  TimePoint long_again_ = TimePoint::min();  // no round before this time is held open for longer than usual
};

}  // namespace starling::core
