// Virtual time: events run in the order of their moments (and, at one moment, of their scheduling), and the clock
// jumps from one to the next. Nothing here knows real time, so equal seeds give equal runs.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "shared/base/clock.h"

namespace starling::sim {

class Scheduler {
 public:
  [[nodiscard]] TimePoint now() const { return now_; }
  [[nodiscard]] WallTime wall_now() const { return {1'700'000'000'000 + to_ms(now_.time_since_epoch())}; }
  [[nodiscard]] std::uint64_t events_run() const { return events_run_; }
  [[nodiscard]] std::size_t events_waiting() const { return queue_.size(); }

  void at(TimePoint when, std::function<void()> event) {
    queue_.push({std::max(when, now_), next_sequence_++, std::move(event)});
  }
  void after(Duration delay, std::function<void()> event) { at(now_ + delay, std::move(event)); }

  // Runs events up to and including `end`; then the clock stands at `end`.
  void run_until(TimePoint end) {
    while (!queue_.empty() && queue_.top().when <= end) {
      // The queue hands out const references only; the event leaves it with the pop right after.
      Event event = std::move(const_cast<Event&>(queue_.top()));
      queue_.pop();
      now_ = event.when;
      ++events_run_;
      event.run();
    }
    now_ = std::max(now_, end);
  }

 private:
  struct Event {
    TimePoint when;
    std::uint64_t sequence;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return when != other.when ? when > other.when : sequence > other.sequence;
    }
  };
  std::priority_queue<Event> queue_;
  TimePoint now_{};
  std::uint64_t next_sequence_ = 0;
  std::uint64_t events_run_ = 0;
};

}  // namespace starling::sim
