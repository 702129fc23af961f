// How fast a link of the house is, from the traffic that flows anyway: bytes over the time in which more could
// have flowed (the socket refused output, or input was awaited). Pure: time is an argument.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"

namespace starling::transport {

class RateMeter {
 public:
  // Traffic is judged in windows of this length of *busy* time.
  static constexpr Duration kWindow = std::chrono::milliseconds(100);
  // A window that ends early (the transfer is over) counts when it has at least this.
  static constexpr Duration kShortestWindow = std::chrono::milliseconds(5);

  void add(TimePoint now, std::size_t bytes);
  // Busy: more bytes would flow if the network took (or brought) them.
  void set_busy(TimePoint now, bool busy);

  [[nodiscard]] double bytes_per_s() const { return estimate_; }  // 0: nothing measured yet

 private:
  void close_window();

  bool busy_ = false;
  TimePoint busy_since_{};
  Duration window_time_{};
  std::int64_t window_bytes_ = 0;
  double estimate_ = 0;
};

}  // namespace starling::transport
