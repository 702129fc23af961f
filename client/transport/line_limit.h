// One direction of the volunteer's line, as links use it: they wait for their turn under the limit. Net thread only.
// The budget behind it is shared with everything else that uses the line.
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

  void set(double bytes_per_s);  // 0: no limit
  [[nodiscard]] double bytes_per_s() const { return budget_.bytes_per_s(); }
  // Bytes of payload a second that a line of that speed allows under the limit. An unknown speed (0) counts as the
  // limit.
  [[nodiscard]] double limited(double bytes_per_s) const;

  // Bytes of payload that may pass now, at most `wanted`. 0: `go` is called, once, when it is the caller's turn to ask
  // again.
  std::size_t ask(std::size_t wanted, std::function<void()> go);
  // A link has passed these bytes of payload.
  void passed(std::size_t bytes);
  // Corrects the estimate made from payload: `wire_bytes` is what links have put on the line since the last call, as
  // the kernel counts it.
  void settle(std::int64_t wire_bytes);
  // Somebody other than a link has passed these bytes of payload.
  void others_passed(std::size_t bytes);

 private:
  // Whether it is anybody's turn now.
  bool acquire();
  void await_turn();
  void give_turns();
  void spend(double wire_bytes);

  const Clock& clock_;
  net::LineBudget& budget_;
  asio::steady_timer timer_;
  std::deque<std::function<void()>> waiting_;
  bool turn_ = false;  // the present caller of ask() has the turn
  bool timer_runs_ = false;
  double granted_ = 0;   // wire bytes that may be sent now
  double reserved_ = 0;  // wire bytes that may be sent from due_ on
  TimePoint due_{};
  double unsettled_ = 0;  // wire bytes passed since the last settle(), by our own estimate
  double owed_ = 0;       // wire bytes that were settled and are not paid yet
  TimePoint settled_at_{};
};

}  // namespace starling::transport
