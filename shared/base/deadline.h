// How long a call of one kind may take before it counts as hung: learned from what such calls took, and from a
// guess as long as none was seen.
#pragma once

#include "shared/base/clock.h"

namespace starling {

struct DeadlineOptions {
  Duration floor = std::chrono::seconds(20);  // no call is given less
  Duration longest = std::chrono::hours(6);   // and none more
  double patience = 8;                        // times the slowest seen
  double unseen_work_per_s = 1;               // before anything was seen: slower than any in use
};

class Deadline {
 public:
  explicit Deadline(DeadlineOptions options = {}) : options_(options) {}

  // `work` in units that the time of a call grows with; 1 where calls are all alike.
  [[nodiscard]] Duration allowed(double work = 1) const;
  void observe(Duration took, double work = 1);
  // A call was given up after allowed(): the next is given twice that, so that what has become slow for good is not
  // given up for ever.
  void on_timeout(double work = 1);

 private:
  DeadlineOptions options_;
  // Slowest rate seen, in seconds per unit of work; 0: none. Forgets slowly, so that one bad hour does not
  // buy patience for ever.
  double slowest_ = 0;
};

}  // namespace starling
