// Virtual time: events run in the order of their moments (and, at one moment, of their scheduling), and the clock
// jumps from one to the next. Nothing here knows real time, so equal seeds give equal runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "shared/base/clock.h"
#include "tests/sim/event_queue.h"

namespace starling::sim {

class Scheduler {
 public:
  [[nodiscard]] TimePoint now() const { return now_; }
  [[nodiscard]] WallTime wall_now() const { return {1'700'000'000'000 + to_ms(now_.time_since_epoch())}; }
  [[nodiscard]] std::uint64_t events_run() const { return events_run_; }
  [[nodiscard]] std::size_t events_waiting() const { return queue_.size(); }

  void at(TimePoint when, std::function<void()> event) {
    std::uint32_t place = 0;
    if (free_.empty()) {
      place = static_cast<std::uint32_t>(events_.size());
      events_.push_back(std::move(event));
    } else {
      place = free_.back();
      free_.pop_back();
      events_[place] = std::move(event);
    }
    queue_.push(std::max(when, now_), place);
  }
  void after(Duration delay, std::function<void()> event) { at(now_ + delay, std::move(event)); }

  // Runs events up to and including `end`, those of one moment in the order in which they were set; then the clock
  // stands at `end`.
  void run_until(TimePoint end) {
    while (queue_.ready(end)) {
      const EventQueue::Due due = queue_.pop();
      const std::function<void()> event = std::move(events_[due.place]);
      events_[due.place] = nullptr;
      free_.push_back(due.place);
      now_ = due.when;
      ++events_run_;
      event();
    }
    now_ = std::max(now_, end);
  }

 private:
  EventQueue queue_;  // places in events_
  std::vector<std::function<void()>> events_;
  std::vector<std::uint32_t> free_;  // places in events_
  TimePoint now_{};
  std::uint64_t events_run_ = 0;
};

}  // namespace starling::sim
