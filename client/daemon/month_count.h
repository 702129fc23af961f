// The data of this month, which a wrong clock must not wipe. Pure: moments come in as the begin of the month around
// them. Three know something about the month: the computer's clock, the coordinator's, and the count itself, which
// proves that its own month has begun.
#pragma once

#include <optional>

#include "client/storage/preference_files.h"
#include "shared/base/clock.h"

namespace starling::daemon {

class MonthCount {
 public:
  explicit MonthCount(storage::MonthTraffic kept) : kept_(std::move(kept)) {}

  // A clock that is behind the count is wrong: the count stays, until a coordinator says that the next month has begun.
  // Else the month is the earlier one of the two clocks, so that neither can end it alone. Where no coordinator has
  // said the time yet, the month that the computer's clock ends is kept beside the new one; if the clock was ahead,
  // they count as one.
  void look(WallTime own, std::optional<WallTime> coordinators);
  void add(std::int64_t averaging, std::int64_t models, std::int64_t coordinator);

  // All that counts toward the cap now.
  [[nodiscard]] storage::MonthTraffic used() const;
  // For the disk.
  [[nodiscard]] const storage::MonthTraffic& kept() const { return kept_; }

 private:
  storage::MonthTraffic kept_;
  bool clock_is_behind_ = false;
};

}  // namespace starling::daemon
