#include "client/trainer_link/restart_policy.h"

#include <algorithm>

namespace starling::trainer_link {
namespace {

constexpr Duration kWindow = std::chrono::minutes(1);
constexpr int kDoublingsMax = 20;

}  // namespace

void RestartPolicy::on_death(TimePoint now) {
  deaths_.push_back(now);
  if (deaths_.size() > static_cast<std::size_t>(options_.deaths_per_minute)) deaths_.pop_front();
  ++in_a_row_;
}

TimePoint RestartPolicy::next_start() const {
  if (deaths_.empty()) return TimePoint::min();
  const Duration delay =
      options_.first_delay * (std::int64_t{1} << std::min(std::max(in_a_row_ - 1, 0), kDoublingsMax));
  TimePoint start = deaths_.back() + std::min(delay, options_.longest_delay);
  if (deaths_.size() == static_cast<std::size_t>(options_.deaths_per_minute)) {
    start = std::max(start, deaths_.front() + kWindow);
  }
  return start;
}

bool RestartPolicy::exhausted(TimePoint now) const {
  return deaths_.size() == static_cast<std::size_t>(options_.deaths_per_minute) && now < deaths_.front() + kWindow;
}

}  // namespace starling::trainer_link
