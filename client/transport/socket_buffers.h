// The kernel's share of one stream's data: unsent output, input that gathers before it wakes us, and input on
// its way. Each number follows from the stream's measured rates.
#pragma once

#include <cstddef>

#include "shared/base/clock.h"

namespace starling::transport {

class SocketBuffers {
 public:
  // A rate measured over less time than this means nothing.
  static constexpr Duration kRateTimeMin = std::chrono::milliseconds(20);

  SocketBuffers();

  // Sets the options of a new socket.
  void begin(int fd);

  // Unsent bytes in the kernel beyond which the socket counts as full.
  [[nodiscard]] std::size_t unsent_max() const;
  // The limit of unsent bytes is in force: a socket that is full has enough until the next tick.
  [[nodiscard]] bool limits_unsent() const;
  // A frame that yields is under way, or no longer: the socket then counts as full with fewer bytes. Bytes that the
  // kernel has are sent, whatever becomes urgent meanwhile.
  void set_yields(int fd, bool yields);
  // The rate of a stream that was kept waiting: only such a stream shows how fast it is. `ticks`: its data moves in
  // ticks.
  void on_sent(int fd, double bytes_per_s, bool ticks);

  // Bytes of input worth waiting for within a frame, so that not every packet wakes us.
  [[nodiscard]] std::size_t gather_max() const { return static_cast<std::size_t>(gather_max_); }
  // Bytes of input that wake us before the next tick. `limited`: the download has a limit.
  [[nodiscard]] static std::size_t gather_in_ticks(bool limited);
  // Returns whether less input should wake us than does now.
  bool on_received(double bytes_per_s);
  // From now on, this much input in the socket wakes us. The last bytes of a frame wake us in any case.
  void wake_at(int fd, std::size_t bytes);

  // The rate at which the stream may receive; 0: no limit. Little more than that may be on its way to us.
  void limit_window(int fd, double bytes_per_s);

 private:
  void set_unsent_max(int fd) const;

  int gather_max_;
  int wakes_at_ = 1;
  int unsent_max_;
  bool yields_ = false;
  bool window_limited_ = false;
};

}  // namespace starling::transport
