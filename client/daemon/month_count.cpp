#include "client/daemon/month_count.h"

#include <algorithm>
#include <utility>

namespace starling::daemon {
namespace {

void add_to(storage::MonthTraffic& sum, const storage::MonthTraffic& other) {
  sum.averaging += other.averaging;
  sum.models += other.models;
  sum.coordinator += other.coordinator;
}

}  // namespace

void MonthCount::look(WallTime own, std::optional<WallTime> coordinators) {
  const bool behind = own < kept_.since;
  const WallTime month = behind         ? coordinators.value_or(kept_.since)
                         : coordinators ? std::min(own, *coordinators)
                                        : own;
  clock_is_behind_ = behind && !coordinators;
  if (month > kept_.since) {
    storage::MonthTraffic over = std::exchange(kept_, {month});
    if (coordinators || over.total() == 0) return;
    kept_.before = std::exchange(over.before, {});
    if (kept_.before.size() >= storage::kMonthsBeforeMax) kept_.before.erase(kept_.before.begin());
    kept_.before.push_back(std::move(over));
  } else if (month < kept_.since) {
    kept_.since = month;
    for (const storage::MonthTraffic& before : std::exchange(kept_.before, {})) {
      if (before.since >= month) add_to(kept_, before);
    }
  } else if (coordinators) {
    kept_.before.clear();
  }
}

void MonthCount::add(std::int64_t averaging, std::int64_t models, std::int64_t coordinator) {
  add_to(kept_, {{}, averaging, models, coordinator});
}

storage::MonthTraffic MonthCount::used() const {
  storage::MonthTraffic sum = kept_;
  sum.before.clear();
  if (!clock_is_behind_) return sum;
  for (const storage::MonthTraffic& before : kept_.before) add_to(sum, before);
  return sum;
}

}  // namespace starling::daemon
