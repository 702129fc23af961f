// Decides when a link gets more streams: when losses on a line with room hold its streams back. The end that dialled
// doubles their number. Only once they are there does it show whether they are enough, and finding out takes losses
// each time. Pure: time is an argument.
#pragma once

#include <algorithm>
#include <cstddef>

#include "client/transport/loss_watch.h"
#include "shared/base/clock.h"

namespace starling::transport {

class Widening {
 public:
  // This many losses that slow streams down without need are no accident.
  static constexpr int kLossesEnough = 2;
  // The wait after a stream that could not be added.
  static constexpr Duration kAgainAfter = std::chrono::seconds(30);

  void note(LossWatch::Finding finding) {
    if (finding == LossWatch::Finding::line_full) losses_ = 0;
    if (finding == LossWatch::Finding::held_back) ++losses_;
  }
  [[nodiscard]] bool is_due() const { return losses_ >= kLossesEnough; }
  void forget_losses() { losses_ = 0; }

  // A further stream is on its way.
  [[nodiscard]] bool joining() const { return joining_; }
  [[nodiscard]] bool may_begin(TimePoint now) const { return !joining_ && now >= again_; }
  // The link should have twice as many streams as now, or the most.
  void begin(std::size_t streams, std::size_t streams_max) { wanted_ = std::min(2 * streams, streams_max); }
  void on_asked() { joining_ = true; }
  // A stream has joined the link, which has this many now. Returns whether to ask for another one.
  bool on_joined(std::size_t streams) {
    joining_ = false;
    return streams < wanted_;
  }
  // The stream that was to join will not.
  void on_failed(TimePoint now, std::size_t streams) {
    joining_ = false;
    wanted_ = streams;
    again_ = now + kAgainAfter;
  }

 private:
  int losses_ = 0;          // recent losses on a line with room
  std::size_t wanted_ = 1;  // number of streams chosen by the end that dialled
  bool joining_ = false;
  TimePoint again_{};  // no join before this time
};

}  // namespace starling::transport
