// Whole numbers as intervals [first, end) that neither touch nor overlap.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace starling::core {

// The numbers of one interval.
struct Interval {
  std::int64_t first = 0;
  std::int64_t end = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// A set of numbers as its intervals.
class IntervalSet {
 public:
  void add(const Interval& interval);
  // Removes the interval and returns the parts of it that were in the set, in order.
  std::vector<Interval> remove(const Interval& interval);
  // Returns the parts of the interval that are in the set, in order.
  [[nodiscard]] std::vector<Interval> common(const Interval& interval) const;

  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] std::int64_t size() const { return size_; }  // the count of numbers in the set
  // The lowest interval; the set is not empty.
  [[nodiscard]] Interval front() const { return {ends_.begin()->first, ends_.begin()->second}; }

 private:
  std::map<std::int64_t, std::int64_t> ends_;  // by first
  std::int64_t size_ = 0;
};

}  // namespace starling::core
