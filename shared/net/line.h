// The volunteer's line, under the limits set for it. All users of the line, on any thread, take from the two budgets,
// so the total stays within the limits: bulk waits for its turn; small and urgent messages pass at once, and later
// traffic pays for them.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::net {

// One direction. The budget may be overdrawn, and nothing more is due until the debt is paid: over any longer time the
// limit holds exactly. Any thread; time is an argument.
class LineBudget {
 public:
  // After a rest, the bytes of this much time are due at once.
  static constexpr Duration kBurst = std::chrono::milliseconds(100);

  // 0: no limit.
  void set_rate(TimePoint now, double bytes_per_s) EXCLUDES(mutex_);
  [[nodiscard]] double bytes_per_s() const EXCLUDES(mutex_);
  // Bytes to reserve at a time: few enough that other users get their turn soon. 0 without a limit.
  [[nodiscard]] double turn_bytes() const EXCLUDES(mutex_);
  // Takes the bytes, and returns when they are due. Requests are served in the order in which they come, so of several
  // users that reserve one turn after the other none is starved.
  TimePoint reserve(TimePoint now, double bytes) EXCLUDES(mutex_);
  // Charges bytes that passed without a reservation; a negative number returns bytes that were reserved and not needed.
  void take(TimePoint now, double bytes) EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  double rate_ GUARDED_BY(mutex_) = 0;
  TimePoint free_at_ GUARDED_BY(mutex_){};  // when all taken bytes have passed
};

struct Line {
  LineBudget upload;
  LineBudget download;
};

// Bytes that a TCP connection has sent and received so far, as an Ethernet interface counts them: with the headers of
// TCP, IP and Ethernet, acknowledgements and retransmissions. Zeros if `fd` is no TCP connection.
struct WireBytes {
  std::int64_t sent = 0;
  std::int64_t received = 0;
};
WireBytes wire_bytes(int fd);
// Payload bytes that a connection with full packets has received more than once; their headers are in wire_bytes. TCP
// counts the packets but not their bytes, so the missing part of a packet that was not full counts as repeated.
std::int64_t repeated_bytes(int fd);
// Bytes of headers of each packet of a TCP connection.
std::int64_t header_bytes(int fd);

// Bytes on the line for each byte of payload, with full packets and TLS records: an estimate until the kernel has
// counted.
constexpr double kOnTheLine = 1.047;

// Limits the receive window to about the bytes of a fifth of a second under the limit. Without a limit the kernel sizes
// the window again.
void limit_window(int fd, double bytes_per_s);

}  // namespace starling::net
