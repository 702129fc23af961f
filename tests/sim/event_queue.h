// A queue of future events, for millions of them: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, 1990). It relies on a
// property of simulations: nothing is ever set for a time before the last one that was taken out. It reads and writes
// memory in rows, where a binary heap jumps about, and keeps events of one moment in the order in which they were set.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/verify.h"

namespace starling::sim {

class EventQueue {
 public:
  struct Due {
    TimePoint when;
    std::uint32_t place = 0;
  };

  [[nodiscard]] std::size_t size() const { return size_; }

  void push(TimePoint when, std::uint32_t place) {
    VERIFY(when >= last_);
    rows_[row_of(when)].push_back({when, place});
    ++size_;
  }

  // True if an event is due until `end`.
  bool ready(TimePoint end) {
    if (taken_ < rows_[0].size()) return last_ <= end;
    if (size_ == 0) return false;
    std::size_t row = 1;
    while (rows_[row].empty()) ++row;
    TimePoint first = kNever;
    for (const Due& due : rows_[row]) first = due.when < first ? due.when : first;
    if (first > end) return false;
    rows_[0].clear();
    taken_ = 0;
    last_ = first;
    // All of the row belongs into lower rows now, the first of it into row 0.
    for (const Due& due : rows_[row]) rows_[row_of(due.when)].push_back(due);
    rows_[row].clear();
    return true;
  }

  // Takes an event out; only after ready() returned true.
  Due pop() {
    --size_;
    return rows_[0][taken_++];
  }

 private:
  // Row 0 holds events due at last_; row r holds those whose time differs from it in bit r - 1 and in no higher one.
  [[nodiscard]] std::size_t row_of(TimePoint when) const {
    const auto bits = [](TimePoint time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); };
    return static_cast<std::size_t>(std::bit_width(bits(when) ^ bits(last_)));
  }

  std::array<std::vector<Due>, 65> rows_;
  std::size_t taken_ = 0;  // events taken out of row 0
  std::size_t size_ = 0;
  TimePoint last_{};
};

}  // namespace starling::sim
