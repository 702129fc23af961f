// One direction of the volunteer's line as links use it: they wait for their turn under the limit. Net thread only; the
// budget behind it is shared with whatever else uses the line.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <cstddef>
#include <deque>
#include <functional>

#include "shared/base/clock.h"
#include "shared/net/line.h"

namespace starling::transport {

class LineLimit {
 public:
  // The budget outlives this.
  LineLimit(asio::io_context& io, const Clock& clock, net::LineBudget& budget)
      : clock_(clock), budget_(budget), timer_(io) {}

  void set(double bytes_per_s);  // 0: none
  [[nodiscard]] double bytes_per_s() const { return budget_.bytes_per_s(); }
  // What a line of that speed allows under the limit, in bytes of payload. An unknown speed (0) is taken for the limit.
  [[nodiscard]] double limited(double bytes_per_s) const;

  // How many bytes of payload may pass now, at most `wanted`. 0: `go` is called, once, when it is the caller's turn to
  // ask again.
  std::size_t ask(std::size_t wanted, std::function<void()> go);
  // Bytes of payload of a link.
  void passed(std::size_t bytes);
  // What links have put on the line since the last call, as the kernel counts it: so what they were allowed by the
  // bytes of payload is set right.
  void settle(std::int64_t wire_bytes);
  // Bytes of payload that others than links have passed.
  void others_passed(std::size_t bytes);

 private:
  // Whether it is now anybody's turn.
  bool acquire();
  void await_turn();
  void give_turns();
  void spend(double wire_bytes);

  const Clock& clock_;
  net::LineBudget& budget_;
  asio::steady_timer timer_;
  std::deque<std::function<void()>> waiting_;
  bool turn_ = false;  // the caller of ask() is the one whose turn it is
  bool timer_runs_ = false;
  double granted_ = 0;   // wire bytes that are due
  double reserved_ = 0;  // the same, from due_ on
  TimePoint due_{};
  double unsettled_ = 0;  // wire bytes passed since the last settle(), by our own estimate
  double owed_ = 0;       // wire bytes that were settled and not paid yet
  TimePoint settled_at_{};
};

}  // namespace starling::transport
