// How fast this house's links may send in a round, all together. Streams that are left to themselves get unequal shares
// of the lines, and everybody waits for the last one: at 4 x 100 Mbit/s a fifth of the time. When each is paced to its
// part of what the line carries, no queue builds up anywhere for them to be unequal in. Pure: time is an argument.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"

namespace starling::transport {

class LinePace {
 public:
  // Every so many rounds one goes without a pace, and may find that the line has become much faster, or that it was
  // others who had kept it slow. So do the next ones, until the measured speed stops rising.
  static constexpr std::uint64_t kFreeEvery = 8;

  // A round begins in which links will send so many bytes, as far as is planned, over a line of this speed (0:
  // unknown).
  void begin(TimePoint now, std::int64_t bytes_planned, double line_bytes_per_s);
  // Lets time pass: a round that takes far longer than its pace allows for is not going to plan.
  void note(TimePoint now);
  // One of the links has sent all it had to, or is lost: from now on the others may go as fast as they can.
  void lift() { pace_ = 0; }

  // 0: as fast as they can.
  [[nodiscard]] double bytes_per_s() const { return pace_; }

 private:
  double pace_ = 0;
  double last_ = 0;  // the line's speed as it was known when the round before began
  TimePoint until_ = kNever;
  std::uint64_t rounds_ = 0;
};

}  // namespace starling::transport
