// How fast this house's links may send in a round, all together. Streams that are left to themselves get unequal shares
// of the lines, and everybody waits for the last one: at 4 x 100 Mbit/s a fifth of the time. When each is paced to its
// part of what the line carries, hardly a queue builds up anywhere for them to be unequal in. Pure: time is an
// argument.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/clock.h"

namespace starling::transport {

class LinePace {
 public:
  // A round begins in which links will send so many bytes, as far as is planned, over a line of this measured speed (0:
  // unknown). It goes without beats where that is unknown or no limit, or the round a short one, and without a pace as
  // long as the speed rises from round to round.
  void begin(TimePoint now, std::int64_t bytes_planned, double line_bytes_per_s);
  // The speed as it is known now, and how long packets wait somewhere on their way. Several times a second.
  void note(TimePoint now, double line_bytes_per_s, Duration queue);
  // One of the links has sent all it had to, or is lost: from now on the others may go as fast as they can.
  void lift() { paced_ = false; }

  // Whether the links of this round move in beats.
  [[nodiscard]] bool beats() const { return beats_; }
  // 0: as fast as they can.
  [[nodiscard]] double bytes_per_s() const { return bytes_per_s(queue_); }
  // The speed that a link has its part of while packets wait so long on its way: that counts half, and half the least
  // wait on any way. What waits for the other end's download shows there on all ways, and its upload gives way to it
  // for nothing; only those who send to it can shorten that queue.
  [[nodiscard]] double bytes_per_s(Duration queue_of_link) const;
  // The time to the next beat, with which all links' streams, so many, move what has come together for them: a wake for
  // every few packets of each would cost more than the packets do. Beats are short where what one brings is waited for:
  // until all links have begun to send, and when hardly anything is left to send or to receive. But not for long: then
  // it is somebody far slower who is waited for.
  [[nodiscard]] Duration next_beat(std::size_t streams, bool have_begun, std::int64_t bytes_left);

 private:
  bool beats_ = false;
  bool known_ = false;  // the speed no longer rises
  bool paced_ = false;
  double line_ = 0;
  double last_ = 0;  // the line's speed as it was known when the round before began
  Duration queue_{};
  double most_ = 1;  // of the line's speed
  TimePoint unseen_until_{};
  TimePoint until_ = kNever;
  Duration short_{};  // beats in a row, together
};

// What one link may send of it: so much with every beat.
class PaceShare {
 public:
  // 0: as much as it can.
  void set(double bytes_per_s);
  [[nodiscard]] bool limits() const { return pace_ > 0; }
  void beat(Duration since_last);
  [[nodiscard]] std::size_t allowed() const;  // bytes, now
  void sent(std::size_t bytes);

 private:
  double pace_ = 0;   // bytes/s
  double quota_ = 0;  // bytes; below zero: sent on credit
};

}  // namespace starling::transport
