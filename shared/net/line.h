// The volunteer's line, under the limits that were set for it. Everything that uses the line takes from the same two
// budgets, on whatever thread it runs, so that the total obeys: bulk waits for its turn, what is small and urgent
// passes at once and is paid back by whatever comes next.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::net {

// One direction. It may be overdrawn, and nothing more is due until that is paid back: over any longer time the limit
// holds exactly. Any thread; time is an argument.
class LineBudget {
 public:
  // After a rest, what flows in so long is due at once.
  static constexpr Duration kBurst = std::chrono::milliseconds(100);

  // 0: no limit.
  void set_rate(TimePoint now, double bytes_per_s) EXCLUDES(mutex_);
  [[nodiscard]] double bytes_per_s() const EXCLUDES(mutex_);
  // What is worth asking for at a time: little enough that others get their turn soon. 0 without a limit.
  [[nodiscard]] double turn_bytes() const EXCLUDES(mutex_);
  // Takes the bytes, and says when they are due. All get their times in the order in which they come, so none of
  // several that keep asking for one turn after the other is kept waiting by the rest.
  TimePoint reserve(TimePoint now, double bytes) EXCLUDES(mutex_);
  // What has passed without being asked for; below 0, what was reserved and not needed.
  void take(TimePoint now, double bytes) EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  double rate_ GUARDED_BY(mutex_) = 0;
  TimePoint free_at_ GUARDED_BY(mutex_){};  // when all that was taken has passed
};

struct Line {
  LineBudget upload;
  LineBudget download;
};

// What a TCP connection has put on the line and taken from it so far, as an Ethernet interface counts it: with the
// headers of TCP, IP and Ethernet, acknowledgements and repeats. Zeros for what is no TCP connection.
struct WireBytes {
  std::int64_t sent = 0;
  std::int64_t received = 0;
};
WireBytes wire_bytes(int fd);
// What a connection that brings full packets has received more than once, beside the headers, which wire_bytes has: TCP
// counts the packets, but not what they held. A packet that was not full is taken for a repeat of what it lacks.
std::int64_t repeated_bytes(int fd);
// What each packet of a TCP connection has on the line beside its payload.
std::int64_t header_bytes(int fd);

// So many bytes go over the line for each byte of payload, with full packets and TLS records: to judge by before the
// kernel has counted.
constexpr double kOnTheLine = 1.047;

// Lets little more come at once than what flows under the limit in a fifth of a second. Without a limit the
// connection's window is the kernel's affair again.
void limit_window(int fd, double bytes_per_s);

}  // namespace starling::net
