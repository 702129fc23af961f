#include "client/transport/line_limit.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace starling::transport {
namespace {

// Little enough that links take turns, and that what is urgent does not wait long; worth a system call.
constexpr Duration kChunkTime = std::chrono::milliseconds(20);
constexpr double kChunkBytesMin = 4 * 1024;
constexpr double kChunkBytesMax = 64 * 1024;
// What is on the line for a byte of TCP payload: headers of TCP and IP with full packets, and TLS records.
constexpr double kOnTheLine = 1.04;

double chunk(double rate) { return std::clamp(rate * to_seconds(kChunkTime), kChunkBytesMin, kChunkBytesMax); }

}  // namespace

void TokenBucket::set_rate(TimePoint now, double bytes_per_s) {
  held_ = rate_ > 0 ? held(now) : 0;
  at_ = now;
  rate_ = bytes_per_s;
}

double TokenBucket::held(TimePoint now) const {
  const double most = std::max(rate_ * to_seconds(kBurst), chunk(rate_));
  return std::min(most, held_ + rate_ * to_seconds(now - at_));
}

std::size_t TokenBucket::allowance(TimePoint now) const {
  if (rate_ <= 0) return std::numeric_limits<std::size_t>::max();
  return now < ready_at() ? 0 : static_cast<std::size_t>(held(now));
}

TimePoint TokenBucket::ready_at() const {
  if (rate_ <= 0) return at_;
  // Rounded up: whoever comes then is not sent away for a fraction of a byte.
  return at_ + from_seconds(std::max(0.0, chunk(rate_) - held_) / rate_) + std::chrono::microseconds(1);
}

void TokenBucket::take(TimePoint now, std::size_t bytes) {
  if (rate_ <= 0) return;
  held_ = held(now) - static_cast<double>(bytes);
  at_ = now;
}

void LineLimit::set(double bytes_per_s) {
  if (bytes_per_s == bucket_.bytes_per_s()) return;
  bucket_.set_rate(clock_.now(), bytes_per_s);
  give_turns();
}

double LineLimit::limited(double bytes_per_s) const {
  const double limit = bucket_.bytes_per_s() / kOnTheLine;
  if (limit <= 0) return bytes_per_s;
  return bytes_per_s > 0 ? std::min(bytes_per_s, limit) : limit;
}

std::size_t LineLimit::ask(std::size_t wanted, std::function<void()> go) {
  if (bucket_.bytes_per_s() <= 0) return wanted;
  const bool may_go = waiting_.empty() || turn_;
  const std::size_t allowed = may_go ? bucket_.allowance(clock_.now()) : 0;
  if (allowed > 0) return std::min(wanted, static_cast<std::size_t>(static_cast<double>(allowed) / kOnTheLine));
  waiting_.push_back(std::move(go));
  if (waiting_.size() == 1) await_turn();  // not now, even if the time has just come: the caller is not waiting yet
  return 0;
}

void LineLimit::passed(std::size_t bytes) {
  if (bucket_.bytes_per_s() <= 0) return;
  bucket_.take(clock_.now(), static_cast<std::size_t>(static_cast<double>(bytes) * kOnTheLine));
}

// Whoever takes nothing leaves the turn to the next; all are asked once at most, as those with more to pass come again.
void LineLimit::give_turns() {
  for (std::size_t left = waiting_.size(); left > 0 && bucket_.allowance(clock_.now()) > 0; --left) {
    const auto go = std::move(waiting_.front());
    waiting_.pop_front();
    turn_ = true;
    go();
    turn_ = false;
  }
  if (!waiting_.empty()) await_turn();
}

void LineLimit::await_turn() {
  timer_.expires_after(std::max(bucket_.ready_at() - clock_.now(), Duration(0)));
  timer_.async_wait([this](const asio::error_code& stopped) {
    if (!stopped) give_turns();
  });
}

}  // namespace starling::transport
