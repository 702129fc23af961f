// How long a call of one kind may take before it counts as hung. The deadline is learned from how long such calls took;
// until one was seen, it is a guess.
#pragma once

#include "shared/base/clock.h"

namespace starling {

// Bounds of a deadline, and the guess before any call was seen. Work is in the caller's own unit.
struct DeadlineOptions {
  Duration floor = std::chrono::seconds(20);  // the shortest deadline of any call
  Duration longest = std::chrono::hours(6);   // the longest deadline of any call
  double patience = 8;                        // multiple of the slowest rate seen
  double unseen_work_per_s = 1;               // assumed before the first observation: slower than any in use
};

class Deadline {
 public:
  explicit Deadline(DeadlineOptions options = {}) : options_(options) {}

  // `work` is in units that a call's time is proportional to; 1 if all calls are of one size.
  [[nodiscard]] Duration allowed(double work = 1) const;
  void observe(Duration took, double work = 1);
  // Reports that a call was given up after allowed(). The next deadline is twice as long, so that calls that have
  // become slow for good succeed again.
  void on_timeout(double work = 1);

 private:
  DeadlineOptions options_;
  // Slowest rate seen, in seconds per unit of work; 0: none. It decays slowly, so that one bad hour does not lengthen
  // deadlines for ever.
  double slowest_ = 0;
};

}  // namespace starling
