// Badges for the achievements of a volunteer or a team.
#pragma once

#include <string>
#include <vector>

#include "db/stores/credit_stores.h"
#include "shared/base/clock.h"

namespace starling::web {

struct Badge {
  std::string title;
  std::string note;
  friend bool operator==(const Badge&, const Badge&) = default;
};

// Badges for the percentile of the recent average (top 1, 5 or 25 % of those above db::kRankedRecentMin), for the
// highest power of ten of credit, and for whole years.
std::vector<Badge> badges_of(const db::Profile& profile, WallTime now);

}  // namespace starling::web
