#include "db/stores/recent_average.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace starling::db {
namespace {

constexpr double kMsPerDay = 86'400'000;
constexpr double kDaysPerHalfLife = kRecentHalfLifeMs / kMsPerDay;
// For a shorter time the growth over it takes its limit value: the quotient would lose its digits.
constexpr std::int64_t kInstantMs = 1000;

double weight_after(std::int64_t elapsed_ms) {
  return std::exp(static_cast<double>(elapsed_ms) * -std::numbers::ln2 / kRecentHalfLifeMs);
}

}  // namespace

RecentAverage granted(const RecentAverage& average, MicroCredit credit, WallTime when) {
  const std::int64_t elapsed_ms = std::max<std::int64_t>(0, when.unix_ms - average.at.unix_ms);
  const double weight = weight_after(elapsed_ms);
  const double added = static_cast<double>(credit) / kMicroCreditsPerCredit;
  const double growth = elapsed_ms < kInstantMs ? std::numbers::ln2 / kDaysPerHalfLife
                                                : (1 - weight) / (static_cast<double>(elapsed_ms) / kMsPerDay);
  return {average.per_day * weight + added * growth, std::max(average.at, when)};
}

double decayed(const RecentAverage& average, WallTime now) {
  return average.per_day * weight_after(std::max<std::int64_t>(0, now.unix_ms - average.at.unix_ms));
}

}  // namespace starling::db
