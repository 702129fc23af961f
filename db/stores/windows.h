// The sums over the last day and week, kept by marks that move along the ledger. Inside db/stores only.
#pragma once

#include "db/sql/connection.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::db {

// Most lines that one call of roll_windows() reads at a mark; the other writes of that moment wait for it.
constexpr std::int64_t kRollLinesMax = 20'000;

// Takes new lines into every window and drops those that have become too old. True: there is more to do.
// Inside a write transaction.
Result<bool> roll_windows(Connection& connection, WallTime now);

// Ledger lines first … last, added to (sign 1) or taken from (-1) the sums over `days`. Reversed lines and reversals do
// not count.
struct WindowLines {
  std::int64_t days = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  int sign = 1;
};
Status count_in_window(Connection& connection, const WindowLines& lines);

}  // namespace starling::db
