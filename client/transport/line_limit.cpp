#include "client/transport/line_limit.h"

#include <algorithm>
#include <utility>

namespace starling::transport {
namespace {

// Fewer bytes are not worth a system call.
constexpr double kTurnBytesMin = 2 * 1024;
// The share of the limit from which unforeseen bytes are paid back: less than all of it, so that nobody falls silent
// meanwhile.
constexpr double kPaybackShare = 0.25;

}  // namespace

void LineLimit::set(double bytes_per_s) {
  const TimePoint now = clock_.now();
  budget_.take(now, -granted_ - reserved_);
  granted_ = reserved_ = 0;
  budget_.set_rate(now, bytes_per_s);
  timer_runs_ = false;
  timer_.cancel();
  give_turns();
}

double LineLimit::limited(double bytes_per_s) const {
  const double limit = budget_.bytes_per_s() / net::kOnTheLine;
  if (limit <= 0) return bytes_per_s;
  return bytes_per_s > 0 ? std::min(bytes_per_s, limit) : limit;
}

std::size_t LineLimit::ask(std::size_t wanted, std::function<void()> go) {
  if (budget_.bytes_per_s() <= 0) return wanted;
  if ((waiting_.empty() || turn_) && acquire()) {
    return std::min(wanted, static_cast<std::size_t>(granted_ / net::kOnTheLine));
  }
  waiting_.push_back(std::move(go));
  await_turn();
  return 0;
}

bool LineLimit::acquire() {
  if (granted_ >= kTurnBytesMin || budget_.bytes_per_s() <= 0) return true;
  const TimePoint now = clock_.now();
  if (reserved_ <= 0) {
    reserved_ = budget_.turn_bytes();
    due_ = budget_.reserve(now, reserved_);
  }
  if (now < due_) return false;
  granted_ += std::exchange(reserved_, 0);
  return granted_ >= kTurnBytesMin;
}

// Does not call back from within this call, even if the time has come: the caller is not waiting yet.
void LineLimit::await_turn() {
  if (timer_runs_) return;
  timer_runs_ = true;
  timer_.expires_after(reserved_ > 0 ? std::max(due_ - clock_.now(), Duration::zero()) : Duration::zero());
  timer_.async_wait([this](const asio::error_code& stopped) {
    if (stopped) return;
    timer_runs_ = false;
    give_turns();
  });
}

void LineLimit::spend(double wire_bytes) {
  const double prepaid = std::clamp(wire_bytes, 0.0, granted_);
  granted_ -= prepaid;
  if (wire_bytes != prepaid) budget_.take(clock_.now(), wire_bytes - prepaid);
}

void LineLimit::passed(std::size_t bytes) {
  if (budget_.bytes_per_s() <= 0) return;
  const double wire_bytes = static_cast<double>(bytes) * net::kOnTheLine;
  unsettled_ += wire_bytes;
  spend(wire_bytes);
}

void LineLimit::settle(std::int64_t wire_bytes) {
  owed_ += static_cast<double>(wire_bytes) - std::exchange(unsettled_, 0);
  const TimePoint now = clock_.now();
  const double payable = kPaybackShare * budget_.bytes_per_s() * to_seconds(now - std::exchange(settled_at_, now));
  const double paid = std::min(owed_, payable);
  owed_ = budget_.bytes_per_s() > 0 ? owed_ - paid : 0;
  if (paid != 0) budget_.take(now, paid);
}

void LineLimit::others_passed(std::size_t bytes) { spend(static_cast<double>(bytes) * net::kOnTheLine); }

// A link that takes nothing leaves the turn to the next. All are asked once at most, because those with more to pass
// come again.
void LineLimit::give_turns() {
  for (std::size_t left = waiting_.size(); left > 0 && acquire(); --left) {
    const auto go = std::move(waiting_.front());
    waiting_.pop_front();
    turn_ = true;
    go();
    turn_ = false;
  }
  if (!waiting_.empty()) await_turn();
}

}  // namespace starling::transport
