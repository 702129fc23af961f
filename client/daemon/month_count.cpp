#include "client/daemon/month_count.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace starling::daemon {
namespace {

using storage::MonthTraffic;

constexpr std::int64_t kSameMonthMs = 2 * 24 * 3'600'000;  // time zones are at most 26 hours apart
constexpr WallTime kFirst{1};                              // zero: none

void add_to(MonthTraffic& sum, const MonthTraffic& other) {
  sum.averaging += other.averaging;
  sum.models += other.models;
  sum.coordinator += other.coordinator;
}

bool is_later(WallTime month, WallTime than) { return month.unix_ms - than.unix_ms >= kSameMonthMs; }
bool is_same(WallTime a, WallTime b) { return !is_later(a, b) && !is_later(b, a); }

WallTime by_coordinator(const MonthTraffic& count) {
  return count.by_coordinator.unix_ms == 0 ? count.since : count.by_coordinator;
}

// Writes down what a coordinator says of a count that knew none, and takes the later of its two months back where both
// clocks say that it has not begun.
void correct(MonthTraffic& count, WallTime own, WallTime coordinators) {
  if (count.by_coordinator.unix_ms == 0) count.by_coordinator = std::min(count.since, coordinators);
  if (is_same(count.since, own)) count.since = own;
  if (is_same(count.by_coordinator, coordinators)) count.by_coordinator = coordinators;
  const bool own_later = count.since > count.by_coordinator;
  WallTime& later = own_later ? count.since : count.by_coordinator;
  const WallTime earlier = own_later ? count.by_coordinator : count.since;
  const WallTime now = std::max(own, coordinators);
  if (is_later(later, now)) later = std::max(now, earlier);
}

auto months_of(const MonthTraffic& count) { return std::tuple(count.since, count.by_coordinator); }

}  // namespace

MonthCount::MonthCount(MonthTraffic kept) : counts_(std::exchange(kept.before, {})) {
  counts_.push_back(std::move(kept));
  merge();
}

void MonthCount::merge() {
  std::erase_if(counts_, [](const MonthTraffic& count) { return count.total() == 0; });
  std::sort(counts_.begin(), counts_.end(),
            [](const MonthTraffic& a, const MonthTraffic& b) { return months_of(a) < months_of(b); });
  for (std::size_t i = 1; i < counts_.size();) {
    const bool same = months_of(counts_[i]) == months_of(counts_[i - 1]);
    const bool too_many = counts_.size() > storage::kMonthsBeforeMax + 1;
    if (!same && !too_many) {
      ++i;
      continue;
    }
    add_to(counts_[i], counts_[i - 1]);
    counts_[i].by_coordinator = std::max(counts_[i].by_coordinator, counts_[i - 1].by_coordinator);
    counts_.erase(counts_.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
}

// The latest month that no clock denied while it was counted.
WallTime MonthCount::proven() const {
  WallTime latest;
  for (const MonthTraffic& count : counts_) latest = std::max(latest, std::min(count.since, by_coordinator(count)));
  return latest;
}

void MonthCount::look(WallTime own, std::optional<WallTime> coordinators) {
  own = std::max(own, kFirst);
  if (coordinators) coordinators = std::max(*coordinators, kFirst);
  own_ = own;
  coordinators_ = coordinators;
  for (MonthTraffic& count : counts_) {
    if (coordinators) {
      correct(count, own, *coordinators);
    } else if (is_same(count.since, own)) {
      count.since = own;
    }
  }
  std::erase_if(counts_, [&](const MonthTraffic& count) {
    return coordinators && is_later(own, count.since) && is_later(*coordinators, by_coordinator(count));
  });
  merge();
}

void MonthCount::add(std::int64_t averaging, std::int64_t models, std::int64_t coordinator) {
  const WallTime proven = this->proven();
  const bool behind = is_later(proven, own_);
  MonthTraffic count{behind ? proven : own_, averaging, models, coordinator};
  // Ahead of its own clock a computer believes no coordinator, unless that clock is wrong.
  if (coordinators_) count.by_coordinator = behind ? std::max(proven, *coordinators_) : std::min(own_, *coordinators_);
  counts_.push_back(std::move(count));
  merge();
}

bool MonthCount::counts(const MonthTraffic& count) const {
  if (!coordinators_) return !is_later(own_, count.since);
  return !is_later(proven(), own_) || !is_later(*coordinators_, by_coordinator(count));
}

MonthTraffic MonthCount::used() const {
  const WallTime proven = this->proven();
  const WallTime told = coordinators_.value_or(own_);
  const WallTime month = is_later(proven, own_) ? told : std::min(own_, told);
  MonthTraffic sum{is_later(proven, month) ? proven : month};
  for (const MonthTraffic& count : counts_) {
    if (counts(count)) add_to(sum, count);
  }
  return sum;
}

MonthTraffic MonthCount::kept() const {
  if (counts_.empty()) return {own_};
  MonthTraffic last = counts_.back();
  last.before.assign(counts_.begin(), counts_.end() - 1);
  return last;
}

std::int64_t MonthCount::kept_bytes() const {
  std::int64_t sum = 0;
  for (const MonthTraffic& count : counts_) sum += count.total();
  return sum;
}

}  // namespace starling::daemon
