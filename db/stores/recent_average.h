// The recent average: credit a day, of which half is forgotten every 7 days. BOINC's formula, so that people
// can compare (reference: update_average in BOINC's lib/util). The schema's trigger computes the same in SQL
// for every ledger line; this is for replays, for checks, and for what a page shows at a later moment.
#pragma once

#include "db/stores/records.h"
#include "shared/base/clock.h"

namespace starling::db {

struct RecentAverage {
  double per_day = 0;  // credit, true at `at`
  WallTime at;         // starts as the moment the account was created
};

constexpr std::int64_t kRecentHalfLifeMs = std::int64_t{7} * 24 * 3600 * 1000;

// After `credit` was granted at `when`. A clock that went back counts as no time.
RecentAverage granted(const RecentAverage& average, MicroCredit credit, WallTime when);
// Its value at a later moment, without new credit.
double decayed(const RecentAverage& average, WallTime now);

}  // namespace starling::db
