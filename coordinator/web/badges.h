// What a volunteer or team may be proud of.
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

// Percentiles of the recent average (top 1, 5 or 25 % of those with more than a credit a day), the highest power of ten
// of credit, whole years.
std::vector<Badge> badges_of(const db::Profile& profile, WallTime now);

}  // namespace starling::web
