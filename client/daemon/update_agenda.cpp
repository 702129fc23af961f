#include "client/daemon/update_agenda.h"

#include <algorithm>

namespace starling::daemon {

UpdateAgenda::Moments UpdateAgenda::moments(const UpdateRules& rules) const {
  const bool may_install = found && can_install && !waiting && rules.large && (rules.install || asked_to_install);
  return {.end_trial = can_install ? well_at : kNever,
          .check = has_source && rules.check && rules.network ? next_check : kNever,
          .install = may_install ? next_try : kNever};
}

UpdateAgenda::Due UpdateAgenda::due(TimePoint now, const UpdateRules& rules) const {
  const Moments at = moments(rules);
  return {at.end_trial <= now, at.check <= now, at.install <= now};
}

TimePoint UpdateAgenda::alarm(TimePoint now, const UpdateRules& rules) const {
  const Moments at = moments(rules);
  TimePoint next = kNever;
  for (const TimePoint moment : {at.end_trial, at.check, at.install}) {
    if (moment > now) next = std::min(next, moment);
  }
  return next;
}

}  // namespace starling::daemon
