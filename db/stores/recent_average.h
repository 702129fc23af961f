// The recent average: credit a day, half of which is forgotten every 7 days. The formula is BOINC's, so that people can
// compare (reference: update_average in BOINC's lib/util). The schema's trigger computes it in SQL for every ledger
// line; the functions here serve replays, checks, and pages that show it at a later moment.
#pragma once

#include "db/stores/records.h"
#include "shared/base/clock.h"

namespace starling::db {

struct RecentAverage {
  double per_day = 0;  // credit, true at `at`
  WallTime at;         // begins as the time when the account was created
};

constexpr std::int64_t kRecentHalfLifeMs = std::int64_t{7} * 24 * 3600 * 1000;

// The average after `credit` was granted at `when`. A clock that went back counts as no time.
RecentAverage granted(const RecentAverage& average, MicroCredit credit, WallTime when);
// The average at a later moment, without new credit.
double decayed(const RecentAverage& average, WallTime now);

}  // namespace starling::db
