// The limit that the volunteer has set for one direction of its line, and the links that wait for their turn under it.
// Net thread only.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <cstddef>
#include <deque>
#include <functional>

#include "shared/base/clock.h"

namespace starling::transport {

// What passes is taken from a bucket that fills at the limit. It may be overdrawn, and nothing passes until it is paid
// back: over any longer time the limit holds exactly. Pure: time is an argument.
class TokenBucket {
 public:
  // After a rest, what flows in so long may pass at once.
  static constexpr Duration kBurst = std::chrono::milliseconds(100);

  // 0: no limit.
  void set_rate(TimePoint now, double bytes_per_s);
  [[nodiscard]] double bytes_per_s() const { return rate_; }
  // At most so many bytes may pass now; 0 until ready_at().
  [[nodiscard]] std::size_t allowance(TimePoint now) const;
  // When enough may pass to be worth the while.
  [[nodiscard]] TimePoint ready_at() const;
  void take(TimePoint now, std::size_t bytes);

 private:
  [[nodiscard]] double held(TimePoint now) const;

  double rate_ = 0;
  double held_ = 0;  // bytes, at `at_`
  TimePoint at_{};
};

class LineLimit {
 public:
  LineLimit(asio::io_context& io, const Clock& clock) : clock_(clock), timer_(io) {}

  void set(double bytes_per_s);  // 0: none
  [[nodiscard]] double bytes_per_s() const { return bucket_.bytes_per_s(); }
  // What a line of that speed allows under the limit. An unknown speed (0) is taken for the limit.
  [[nodiscard]] double limited(double bytes_per_s) const;

  // How many bytes may pass now, at most `wanted`. 0: `go` is called, once, when it is the caller's turn to ask again.
  std::size_t ask(std::size_t wanted, std::function<void()> go);
  // Bytes of TCP payload, of a link or of anything else on the same line.
  void passed(std::size_t bytes);

 private:
  void give_turns();
  void await_turn();

  const Clock& clock_;
  TokenBucket bucket_;
  asio::steady_timer timer_;
  std::deque<std::function<void()>> waiting_;
  bool turn_ = false;  // the caller of ask() is the one whose turn it is
};

}  // namespace starling::transport
