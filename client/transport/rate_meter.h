// How fast one direction of this house's line is, from the traffic that flows anyway. What a line can do shows in its
// fastest moments: in slow ones somebody else may be the limit. Pure: time is an argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "shared/base/clock.h"

namespace starling::transport {

class RateMeter {
 public:
  // How often to note() while there is traffic.
  static constexpr Duration kSlot = std::chrono::milliseconds(50);
  // When in a longer slot its bytes came, nobody knows.
  static constexpr Duration kSlotMax = std::chrono::milliseconds(500);
  // So much of a transfer is judged together, at every slot, wherever it begins: longer than buffers and bursts on the
  // way, but soon over, as a fast line among slow ones is busy for moments only. What a transfer leaves of it the next
  // one goes on with.
  static constexpr Duration kWindow = std::chrono::milliseconds(300);
  // A shorter pause belongs to the transfer: what is held up by a lost packet comes all at once afterwards.
  static constexpr Duration kPause = std::chrono::milliseconds(200);

  // What moves less in all is no transfer: its pauses, and what TCP has in flight at first, would pass for the line.
  static constexpr std::int64_t kWindowBytes = 256 * 1024;

  explicit RateMeter(std::int64_t window_bytes = kWindowBytes) : window_bytes_min_(window_bytes) {}

  // So many bytes were moved since the last call.
  void note(TimePoint now, std::int64_t bytes) { note(now, bytes, bytes); }
  // The same for a direction that is seen at both of its ends, here and by what the other end acknowledges. What comes
  // out of a queue somewhere shows as speed at one of them, so the lower number of a window counts.
  void note(TimePoint now, std::int64_t bytes, std::int64_t other_end);
  // The same for a direction that is seen only where it ends, and only once nothing is missing: what comes behind a gap
  // shows all at once when that is filled, and is no speed then. So as long as packets do, so many since the last call,
  // bytes count together with what comes after them.
  void note_in_order(TimePoint now, std::int64_t bytes, std::int64_t packets_behind_gap);
  // What a short trial has shown counts until traffic shows something.
  void expect(double bytes_per_s) { estimate_ = estimate_ == 0 ? bytes_per_s : estimate_; }
  // The transfer is over. Where nothing is known yet, what there is of a window is judged at once.
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
  std::deque<Span> slots_;  // of the window
  Span window_;             // their sum
  Span pause_;              // since the last of them
  Span kept_;               // what came while something before it was missing; not yet in the above
  double estimate_ = 0;
};

}  // namespace starling::transport
