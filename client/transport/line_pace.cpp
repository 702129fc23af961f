#include "client/transport/line_pace.h"

namespace starling::transport {
namespace {

// A little above what was measured: TCP's own control keeps a little below the pace that it is given, and a line that
// has become faster must be able to show it.
constexpr double kMargin = 1.04;
// A measured speed that has risen by more since the round before is still being found out.
constexpr double kStill = 1.04;
// A round that takes this much longer than planned is not going to plan.
constexpr double kOverdue = 1.5;
// A line so fast is not what links wait for.
constexpr double kPaceMax = 60e6;

}  // namespace

void LinePace::begin(TimePoint now, std::int64_t bytes_planned, double line_bytes_per_s) {
  const bool known = line_bytes_per_s <= kStill * last_;
  const bool free = rounds_++ % kFreeEvery == 0;
  last_ = line_bytes_per_s;
  pace_ = known && !free ? kMargin * line_bytes_per_s : 0;
  if (pace_ > kPaceMax) pace_ = 0;
  until_ = pace_ > 0 ? now + from_seconds(kOverdue * static_cast<double>(bytes_planned) / pace_) : kNever;
}

void LinePace::note(TimePoint now) {
  if (now >= until_) lift();
}

}  // namespace starling::transport
