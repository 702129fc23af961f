// The speed at which this house's links may send in a round, all together. Streams that are left to themselves get
// unequal shares of the lines, and everybody waits for the last one: at 4 x 100 Mbit/s that costs a fifth of the time.
// When each is paced to its part of what the line carries, hardly any queue builds up in which they could be unequal.
// Links of a long round move their data in *ticks*, all at once. Pure: time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/clock.h"

namespace starling::transport {

class LinePace {
 public:
  // A round begins in which links will send about `bytes_planned` over a line of this measured speed (0: unknown). The
  // round has no ticks if the speed is unknown or so high that it is no limit, or if the round is short. It has no pace
  // while the speed rises from round to round.
  void begin(TimePoint now, std::int64_t bytes_planned, double line_bytes_per_s);
  // The speed as it is known now, and how long packets wait in queues on their way. Call it several times a second.
  void note(TimePoint now, double line_bytes_per_s, Duration queue);
  // One of the links has sent everything, or is lost: from now on the others may go as fast as they can.
  void lift() { paced_ = false; }

  // Whether the links of this round move their data in ticks.
  [[nodiscard]] bool ticks() const { return ticks_; }
  // 0: as fast as they can.
  [[nodiscard]] double bytes_per_s() const { return bytes_per_s(queue_); }
  // The total speed of which a link gets its part, while packets wait for `queue_of_link` on its way. Half of that wait
  // counts, and half of the least wait on any way. A queue at the other end's download shows there on all ways; its
  // upload would give way to that queue for nothing, because only those who send to it can shorten it.
  [[nodiscard]] double bytes_per_s(Duration queue_of_link) const;
  // The time to the next tick, at which all streams of the links move the data that has gathered for them: a wake for
  // every few packets of each would cost more than the packets do. Ticks are short where their data is waited for:
  // until all links have begun to send, and when hardly anything is left to send or to receive. Short ticks end after a
  // while, because the wait is then for somebody far slower.
  [[nodiscard]] Duration next_tick(std::size_t streams, bool have_begun, std::int64_t bytes_left);

 private:
  bool ticks_ = false;
  bool known_ = false;  // the speed no longer rises
  bool paced_ = false;
  double line_ = 0;
  double last_ = 0;  // the line's speed as it was known when the round before began
  Duration queue_{};
  double most_ = 1;  // factor on the line's speed
  TimePoint unseen_until_{};
  TimePoint until_ = kNever;
  Duration short_{};  // total of the short ticks in a row
};

// One link's share of the pace: a quota that grows with every tick.
class PaceShare {
 public:
  // 0: as fast as it can.
  void set(double bytes_per_s);
  [[nodiscard]] bool limits() const { return pace_ > 0; }
  void tick(Duration since_last);
  [[nodiscard]] std::size_t allowed() const;  // bytes, now
  void sent(std::size_t bytes);

 private:
  double pace_ = 0;   // bytes/s
  double quota_ = 0;  // bytes; below zero: sent on credit
};

}  // namespace starling::transport
