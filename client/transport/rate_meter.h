// Measures how fast one direction of this house's line is, from the traffic that flows anyway. A line shows its
// capacity in its fastest moments: in slow ones somebody else may be the limit. Pure: time is an argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "shared/base/clock.h"

namespace starling::transport {

class RateMeter {
 public:
  // Interval of note() while there is traffic.
  static constexpr Duration kSlot = std::chrono::milliseconds(50);
  // In a longer slot nobody knows when its bytes came.
  static constexpr Duration kSlotMax = std::chrono::milliseconds(500);
  // The length of a transfer that is judged together, at every slot, wherever it begins. It is longer than buffers and
  // bursts on the way, but short, because a fast line among slow ones is busy for moments only. The next transfer
  // continues a window that the last one did not fill.
  static constexpr Duration kWindow = std::chrono::milliseconds(300);
  // A shorter pause belongs to the transfer: data held up by a lost packet comes all at once afterwards.
  static constexpr Duration kPause = std::chrono::milliseconds(200);

  // Less data in all is not a transfer: its pauses, and the bytes that TCP has in flight at first, would pass for the
  // line's speed.
  static constexpr std::int64_t kWindowBytes = 256 * 1024;

  explicit RateMeter(std::int64_t window_bytes = kWindowBytes) : window_bytes_min_(window_bytes) {}

  // `bytes` were moved since the last call.
  void note(TimePoint now, std::int64_t bytes) { note(now, bytes, bytes); }
  // For a direction that is seen at both of its ends: here, and by the acknowledgements of the other end. A burst from
  // a queue somewhere shows as speed at one of them, so the lower number of a window counts.
  void note(TimePoint now, std::int64_t bytes, std::int64_t other_end);
  // For a direction that is seen only where it ends, and only in order: data behind a gap shows all at once when the
  // gap is filled, and that is not speed. While packets arrive behind a gap (`packets_behind_gap` since the last call),
  // bytes count together with those that come after them.
  void note_in_order(TimePoint now, std::int64_t bytes, std::int64_t packets_behind_gap);
  // The result of a short trial counts until traffic shows something.
  void expect(double bytes_per_s) { estimate_ = estimate_ == 0 ? bytes_per_s : estimate_; }
  // The transfer is over. If nothing is known yet, the partial window is judged at once.
  void rest();

  [[nodiscard]] double bytes_per_s() const { return estimate_; }  // 0: nothing measured yet

 private:
  struct Span {
    Duration time{};
    std::int64_t bytes = 0;
    std::int64_t other_end = 0;

    [[nodiscard]] std::int64_t moved() const { return std::min(bytes, other_end); }
    Span& operator+=(const Span& more);
    Span& operator-=(const Span& less);
  };
  void take(Span slot);
  void add(const Span& slot);
  void judge();
  [[nodiscard]] double weight_of(double rate) const;
  void forget();

  std::int64_t window_bytes_min_;
  TimePoint noted_{};
  std::deque<Span> slots_;  // slots of the window
  Span window_;             // their sum
  Span pause_;              // since the last of them
  Span kept_;               // bytes that came while something before them was missing; not yet in the above
  double estimate_ = 0;
};

}  // namespace starling::transport
