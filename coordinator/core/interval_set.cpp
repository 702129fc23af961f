#include "coordinator/core/interval_set.h"

#include <algorithm>
#include <iterator>

namespace starling::core {

void IntervalSet::add(const Interval& interval) {
  if (interval.first >= interval.end) return;
  remove(interval);
  Interval grown = interval;
  auto after = ends_.lower_bound(interval.first);
  if (after != ends_.end() && after->first == interval.end) {
    grown.end = after->second;
    after = ends_.erase(after);
  }
  if (after != ends_.begin() && std::prev(after)->second == interval.first) {
    std::prev(after)->second = grown.end;
  } else {
    ends_.emplace_hint(after, grown.first, grown.end);
  }
  size_ += interval.end - interval.first;
}

std::vector<Interval> IntervalSet::remove(const Interval& interval) {
  const std::vector<Interval> removed = common(interval);
  for (const Interval& piece : removed) {
    const auto holder = std::prev(ends_.upper_bound(piece.first));
    const Interval whole{holder->first, holder->second};
    ends_.erase(holder);
    if (whole.first < piece.first) ends_[whole.first] = piece.first;
    if (piece.end < whole.end) ends_[piece.end] = whole.end;
    size_ -= piece.end - piece.first;
  }
  return removed;
}

std::vector<Interval> IntervalSet::common(const Interval& interval) const {
  std::vector<Interval> found;
  auto at = ends_.upper_bound(interval.first);
  if (at != ends_.begin()) --at;
  for (; at != ends_.end() && at->first < interval.end; ++at) {
    const Interval piece{std::max(at->first, interval.first), std::min(at->second, interval.end)};
    if (piece.first < piece.end) found.push_back(piece);
  }
  return found;
}

}  // namespace starling::core
