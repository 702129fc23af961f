// The data of this month, which a wrong clock must not wipe. Pure: moments come in as the begin of the month around
// them. Three know something about the month: the computer's clock, the coordinator's, and the count itself, which
// proves that its own month has begun.
#pragma once

#include <optional>
#include <vector>

#include "client/storage/preference_files.h"
#include "shared/base/clock.h"

namespace starling::daemon {

// Every byte is counted under the months that the two clocks told then, and is over once both clocks tell a later one.
// So a clock that goes back, and forward again, gives nothing back.
//
// - A computer's clock that is behind the count is wrong: the coordinator's alone says which month it is. The
//   count that this hides is kept, and is there again when the computer's clock is right.
// - Where no coordinator has said the time yet, the computer's clock hides a month, but ends none.
// - A month that neither clock tells any more was a mistake: what was counted under it counts by the other.
// - Begins that differ by less than two days are one month: it begins at another hour where a journey ends.
class MonthCount {
 public:
  explicit MonthCount(storage::MonthTraffic kept);

  // Before the first bytes.
  void look(WallTime own, std::optional<WallTime> coordinators);
  void add(std::int64_t averaging, std::int64_t models, std::int64_t coordinator);

  // All that counts toward the cap now, and since when.
  [[nodiscard]] storage::MonthTraffic used() const;
  // For the disk.
  [[nodiscard]] storage::MonthTraffic kept() const;
  // The bytes of all months that are kept.
  [[nodiscard]] std::int64_t kept_bytes() const;

 private:
  [[nodiscard]] WallTime proven() const;
  [[nodiscard]] bool counts(const storage::MonthTraffic& count) const;
  void merge();

  std::vector<storage::MonthTraffic> counts_;  // by month; no two of the same clocks' months, and none without bytes
  WallTime own_;
  std::optional<WallTime> coordinators_;
};

}  // namespace starling::daemon
