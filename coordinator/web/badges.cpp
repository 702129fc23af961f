#include "coordinator/web/badges.h"

#include <fmt/core.h>

#include <cmath>

#include "coordinator/web/html.h"

namespace starling::web {
namespace {

constexpr double kMsPerYear = 365.25 * 86'400'000;
constexpr int kPercentiles[] = {1, 5, 25};

}  // namespace

std::vector<Badge> badges_of(const db::Profile& profile, WallTime now) {
  std::vector<Badge> badges;
  const db::Standing& standing = profile.standing;
  if (standing.rank > 0 && db::decayed(standing.recent, now) > db::kRankedRecentMin) {
    for (const int percent : kPercentiles) {
      if (standing.rank * 100 > profile.ranked * percent) continue;
      badges.push_back({fmt::format("Top {} %", percent), "by recent average"});
      break;
    }
  }
  const double credit = credit_of(standing.earned(db::Board::total));
  if (credit >= 1) {
    const std::int64_t reached = std::llround(std::pow(10, std::floor(std::log10(credit) + 1e-12)));
    badges.push_back({plural(reached, "credit"), "and more"});
  } else if (standing.earned(db::Board::total).samples > 0) {
    badges.push_back({"First samples", "accepted"});
  }
  const auto years = static_cast<std::int64_t>(
      static_cast<double>(standing.last_contribution.unix_ms - standing.joined.unix_ms) / kMsPerYear);
  if (years >= 1) badges.push_back({plural(years, "year"), "from the first day to the last sample"});
  return badges;
}

}  // namespace starling::web
