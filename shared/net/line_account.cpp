#include "shared/net/line_account.h"

#include <algorithm>
#include <utility>

#include "shared/net/cancel_event.h"

namespace starling::net {

LineAccount::~LineAccount() {
  settle();
  if (line_ == nullptr) return;
  line_->upload.take(monotonic_now(), -prepaid_.sent);
  line_->download.take(monotonic_now(), -prepaid_.received);
}

void LineAccount::settle() {
  if (line_ == nullptr) return;
  const WireBytes moved = net::wire_bytes(fd_);
  const TimePoint now = monotonic_now();
  const auto pay = [now](LineBudget& budget, std::int64_t bytes, double& prepaid) {
    const double paid = std::min(prepaid, static_cast<double>(bytes));
    prepaid -= paid;
    budget.take(now, static_cast<double>(bytes) - paid);
  };
  pay(line_->upload, moved.sent - settled_.sent, prepaid_.sent);
  pay(line_->download, moved.received - settled_.received, prepaid_.received);
  settled_ = moved;
}

void LineAccount::fit_window() {
  if (line_ == nullptr) return;
  const double limit = line_->download.bytes_per_s();
  if (limit != window_limit_) limit_window(fd_, limit);
  window_limit_ = limit;
}

LineAccount::Turn LineAccount::download_turn(std::size_t wanted) {
  if (line_ == nullptr) return {wanted, {}};
  fit_window();
  const double turn = line_->download.turn_bytes();
  if (turn <= 0) return {wanted, {}};
  settle();
  const TimePoint now = monotonic_now();
  // More than one turn's bytes may have gathered while there was no limit, or in replies too short for full packets.
  const std::int64_t repeated = std::max(repeated_bytes_, net::repeated_bytes(fd_));
  const auto more = static_cast<double>(repeated - std::exchange(repeated_bytes_, repeated));
  line_->download.take(now, std::min(more, turn));
  const TimePoint due = line_->download.reserve(now, std::max(0.0, turn - prepaid_.received));
  prepaid_.received = std::max(prepaid_.received, turn);
  return {std::min(wanted, static_cast<std::size_t>(turn)), due};
}

LineAccount::Turn LineAccount::upload_turn(std::size_t wanted) {
  const double turn = line_ == nullptr ? 0 : line_->upload.turn_bytes();
  if (turn <= 0) return {wanted, {}};
  settle();
  const std::size_t piece = std::min(wanted, static_cast<std::size_t>(turn));
  const double on_the_line = static_cast<double>(piece) * kOnTheLine;
  const TimePoint due = line_->upload.reserve(monotonic_now(), on_the_line);
  prepaid_.sent += on_the_line;
  return {piece, due};
}

}  // namespace starling::net
