// How long a call to the trainer may take before it counts as hung: learned from what calls took, and
// from the work they ask for as long as nothing was seen.
#pragma once

#include <array>

#include "client/trainer_link/messages.h"
#include "shared/base/clock.h"

namespace starling::trainer_link {

struct DeadlineOptions {
  Duration floor = std::chrono::seconds(20);  // no call is given less
  double patience = 8;                        // times the slowest seen
  double slowest_flops_per_s = 2e7;           // of a machine that was not seen yet: slower than any in use
};

class Deadlines {
 public:
  explicit Deadlines(DeadlineOptions options = {}) : options_(options) {}

  // `work` in floating-point operations, in the same way at every call of one command.
  [[nodiscard]] Duration allowed(Command command, double work) const;
  void observe(Command command, double work, Duration took);

 private:
  DeadlineOptions options_;
  // Slowest rate seen, in seconds per operation; 0: none. Forgets slowly, so that one bad hour does not
  // buy patience for ever.
  std::array<double, kCommands + 1> slowest_{};
};

}  // namespace starling::trainer_link
