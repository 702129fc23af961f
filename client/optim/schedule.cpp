#include "client/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "client/optim/exact_math.h"

namespace starling::optim {

namespace {

// Factor of the peak learning rate, falling from 1 to 0, in the rounds after warm-up.
double share_left(const wire::ScheduleOptions& schedule, RoundIndex round) {
  const auto length = static_cast<double>(std::max<std::int64_t>(1, schedule.total_rounds - schedule.warmup_rounds));
  const double done = std::min(1.0, static_cast<double>(round - schedule.warmup_rounds) / length);
  return schedule.kind == wire::ScheduleKind::linear ? 1 - done : 0.5 * (1 + cosine_of_half_turns(done));
}

}  // namespace

double learning_rate(const wire::ScheduleOptions& schedule, RoundIndex round) {
  const double peak = schedule.learning_rate;
  if (round < schedule.warmup_rounds) {
    return peak * static_cast<double>(round + 1) / static_cast<double>(schedule.warmup_rounds);
  }
  if (schedule.kind == wire::ScheduleKind::constant) return peak;
  if (schedule.kind == wire::ScheduleKind::inverse_sqrt) {
    const auto warmup = static_cast<double>(std::max<std::int64_t>(1, schedule.warmup_rounds));
    return peak * std::sqrt(warmup / static_cast<double>(round + 1));
  }
  return peak * (schedule.final_fraction + (1 - schedule.final_fraction) * share_left(schedule, round));
}

}  // namespace starling::optim
