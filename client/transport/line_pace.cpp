#include "client/transport/line_pace.h"

#include <algorithm>
#include <cmath>

namespace starling::transport {
namespace {

// Factors on the measured speed. A line may well carry more when nothing waits for it, and less when much does.
constexpr double kMost = 1.1;
constexpr double kLeast = 0.9;
// Waits in queues, in seconds. kQueueMost makes the pace the least; kQueueNone counts as jitter and no wait at all.
constexpr double kQueueMost = 0.06;
constexpr double kQueueNone = 0.01;
// For this long after a round has begun nobody knows how long the queues on the way are; until then the measured speed
// is the limit. All lines have rested and everybody begins at once, so an excess overflows queues or stays in them.
constexpr Duration kUnseen = std::chrono::milliseconds(300);
// A measured speed that has risen by more than this since the round before is still being found out.
constexpr double kStill = 1.15;
// A round that takes this many times longer than planned is not going to plan.
constexpr double kOverdue = 1.5;
// A shorter round is over before its streams get in each other's way, and ticks would only make it longer.
constexpr double kLongSeconds = 0.5;
// Links do not wait for a line faster than this (bytes/s).
constexpr double kPaceMax = 60e6;

// Ticks are far enough apart for each stream to have this much to send, within bounds. A shorter tick costs no less
// than a long one, and its data is waited for elsewhere.
constexpr double kTickBytes = 48 * 1024;
constexpr double kTickSecondsMin = 0.02;
constexpr double kTickSecondsOfStream = 0.004;  // each stream makes a tick dearer, however fast the line
constexpr double kTickSecondsMax = 0.04;
constexpr Duration kShortTick = std::chrono::milliseconds(5);
constexpr double kClosingSeconds = 0.1;                          // time left to send or receive when ticks become short
constexpr Duration kShortMost = std::chrono::milliseconds(500);  // total of short ticks in a row

constexpr double kShareMin = 1024;
// The time for which a link keeps the part of its share that TCP did not take: it is sent later, because links should
// end together.
constexpr double kKeptSeconds = 0.2;
// Output goes out in whole pieces of this size (TLS records), a part of it on credit.
constexpr double kPieceBytes = 16 * 1024;

}  // namespace

void LinePace::begin(TimePoint now, std::int64_t bytes_planned, double line_bytes_per_s) {
  const bool limits = line_bytes_per_s > 0 && line_bytes_per_s <= kPaceMax;
  const double seconds = limits ? static_cast<double>(bytes_planned) / line_bytes_per_s : 0;
  ticks_ = limits && seconds >= kLongSeconds;
  known_ = line_bytes_per_s <= kStill * last_;
  paced_ = ticks_ && known_;
  last_ = line_ = line_bytes_per_s;
  most_ = 1;
  short_ = {};
  unseen_until_ = now + kUnseen;
  until_ = paced_ ? now + from_seconds(kOverdue * seconds) : kNever;
}

void LinePace::note(TimePoint now, double line_bytes_per_s, Duration queue) {
  line_ = line_bytes_per_s;
  queue_ = queue;
  if (now >= unseen_until_) most_ = kMost;
  if (now >= until_) lift();
}

double LinePace::bytes_per_s(Duration queue_of_link) const {
  if (!paced_) return 0;
  const double queue = to_seconds(queue_ + queue_of_link) / 2;
  const double full = std::clamp((queue - kQueueNone) / (kQueueMost - kQueueNone), 0.0, 1.0);
  return line_ * std::min(most_, kMost + full * (kLeast - kMost));
}

Duration LinePace::next_tick(std::size_t streams, bool have_begun, std::int64_t bytes_left) {
  const bool short_one = !have_begun || static_cast<double>(bytes_left) < kClosingSeconds * line_;
  if (!short_one) short_ = {};
  if (short_one && short_ < kShortMost) {
    short_ += kShortTick;
    return kShortTick;
  }
  if (!known_) return from_seconds(kTickSecondsMin);
  const double of_stream = std::max(kTickBytes / (paced_ ? bytes_per_s() : line_), kTickSecondsOfStream);
  const double seconds = of_stream * static_cast<double>(streams);
  return from_seconds(std::clamp(seconds, kTickSecondsMin, kTickSecondsMax));
}

void PaceShare::set(double bytes_per_s) {
  pace_ = bytes_per_s > 0 ? std::max(kShareMin, bytes_per_s) : 0;
  if (pace_ <= 0) quota_ = 0;
}

void PaceShare::tick(Duration since_last) {
  quota_ = std::min(quota_ + pace_ * to_seconds(since_last), pace_ * kKeptSeconds);
}

std::size_t PaceShare::allowed() const {
  if (pace_ <= 0) return SIZE_MAX;
  return quota_ <= 0 ? 0 : static_cast<std::size_t>(std::ceil(quota_ / kPieceBytes) * kPieceBytes);
}

void PaceShare::sent(std::size_t bytes) {
  if (pace_ > 0) quota_ -= static_cast<double>(bytes);
}

}  // namespace starling::transport
