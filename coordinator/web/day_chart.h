// A chart of the credit earned day by day.
#pragma once

#include <string>
#include <vector>

#include "db/stores/credit_stores.h"
#include "shared/base/clock.h"

namespace starling::web {

// A chart of the last `count` days up to today; empty if nothing was earned in them.
std::string day_chart(const std::vector<db::DayTotals>& days, int count, WallTime now);

}  // namespace starling::web
