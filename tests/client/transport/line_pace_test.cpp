#include "client/transport/line_pace.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "client/transport/rate_meter.h"

using namespace starling;
using namespace starling::transport;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kPlanned = 20'000'000;
constexpr double kLine = 10e6;
constexpr TimePoint kSettled = TimePoint{} + 1s;

// The pace in the second round at one speed.
LinePace pace_at(double line_bytes_per_s) {
  LinePace pace;
  pace.begin(TimePoint{}, kPlanned, line_bytes_per_s);
  pace.begin(TimePoint{}, kPlanned, line_bytes_per_s);
  return pace;
}

}  // namespace

TEST_CASE("the first round is free, and shows how fast the line is") {
  LinePace pace;
  pace.begin(TimePoint{}, kPlanned, 0);
  CHECK(pace.bytes_per_s() == 0);
  pace.begin(TimePoint{}, kPlanned, kLine);
  CHECK(pace.bytes_per_s() == 0);
  pace.begin(TimePoint{}, kPlanned, kLine);
  CHECK(pace.bytes_per_s() > 0);
}

TEST_CASE("as long as the measured speed rises, nothing holds it back") {
  LinePace pace;
  double line = 0;
  for (int round = 0; round < 6; ++round) {
    pace.begin(TimePoint{}, kPlanned, line);
    CHECK(pace.bytes_per_s() == 0);
    line = line == 0 ? 1e6 : 1.5 * line;
  }
  pace.begin(TimePoint{}, kPlanned, line);
  CHECK(pace.bytes_per_s() == 0);
  pace.begin(TimePoint{}, kPlanned, line);
  CHECK(pace.bytes_per_s() == line);
}

TEST_CASE("until a round's own queues show, it goes at the measured speed") {
  LinePace pace = pace_at(kLine);
  pace.note(TimePoint{} + 50ms, kLine, 0ms);
  CHECK(pace.bytes_per_s() == kLine);
  pace.note(TimePoint{} + 100ms, kLine, 60ms);
  CHECK(pace.bytes_per_s() < kLine);
  pace.note(TimePoint{} + 300ms, kLine, 0ms);
  CHECK(pace.bytes_per_s() > kLine);
}

TEST_CASE("where nothing waits for the line the pace goes above its speed, where much does below") {
  LinePace pace = pace_at(kLine);
  pace.note(kSettled, kLine, 0ms);
  CHECK(pace.bytes_per_s() > 1.05 * kLine);
  CHECK(pace.bytes_per_s() < 1.15 * kLine);
  double last = pace.bytes_per_s();
  for (const auto queue : {20ms, 30ms, 50ms}) {
    pace.note(kSettled, kLine, queue);
    CHECK(pace.bytes_per_s() < last);
    last = pace.bytes_per_s();
  }
  pace.note(kSettled, kLine, 10s);
  CHECK(pace.bytes_per_s() < kLine);
  CHECK(pace.bytes_per_s() > 0.85 * kLine);
}

TEST_CASE("a link on whose way more waits than on others goes slower than they, until nothing does") {
  LinePace pace = pace_at(kLine);
  pace.note(kSettled, kLine, 30ms);
  CHECK(pace.bytes_per_s(30ms) == pace.bytes_per_s());
  CHECK(pace.bytes_per_s(50ms) < pace.bytes_per_s(30ms));
  CHECK(pace.bytes_per_s(10s) == doctest::Approx(0.9 * kLine));
  pace.lift();
  CHECK(pace.bytes_per_s(10s) == 0);
}

TEST_CASE("a line that turns out faster gets a faster pace within the round") {
  LinePace pace = pace_at(kLine);
  double measured = kLine;
  constexpr double kFaster = 1.5 * kLine;
  for (int i = 0; i < 40; ++i) {
    pace.note(kSettled, measured, 0ms);
    measured = std::min(kFaster, pace.bytes_per_s());
  }
  CHECK(measured == kFaster);
}

// Round trips differ by some milliseconds without any queue, and links take a little less than the pace allows.
TEST_CASE("a fast line that others have held up is found out in the next round") {
  RateMeter meter;
  TimePoint now = TimePoint{} + 1s;
  meter.note(now, 0);
  for (int i = 0; i < 10; ++i) meter.note(now += RateMeter::kSlot, 200'000);
  const double held_up = meter.bytes_per_s();
  LinePace pace = pace_at(held_up);
  for (int i = 0; i < 30; ++i) {
    pace.note(now, meter.bytes_per_s(), 10ms);
    const double passes = std::min(3 * held_up, 0.96 * pace.bytes_per_s());
    meter.note(now += RateMeter::kSlot, static_cast<std::int64_t>(passes * to_seconds(RateMeter::kSlot)));
  }
  CHECK(meter.bytes_per_s() > 1.15 * held_up);
}

TEST_CASE("a line that is not what links wait for needs neither pace nor ticks") {
  CHECK(pace_at(500e6).bytes_per_s() == 0);
  CHECK_FALSE(pace_at(500e6).ticks());
}

TEST_CASE("a round of a moment needs no pace") {
  LinePace pace = pace_at(kLine);
  REQUIRE(pace.bytes_per_s() > 0);
  pace.begin(TimePoint{}, kPlanned / 10, kLine);
  CHECK(pace.bytes_per_s() == 0);
  CHECK_FALSE(pace.ticks());
}

TEST_CASE("a pace is over when links have less to do than planned, and when the round is late") {
  LinePace pace = pace_at(kLine);
  REQUIRE(pace.bytes_per_s() > 0);
  pace.lift();
  CHECK(pace.bytes_per_s() == 0);
  pace.begin(TimePoint{}, kPlanned, kLine);  // two seconds
  pace.note(TimePoint{} + 2500ms, kLine, 0ms);
  CHECK(pace.bytes_per_s() > 0);
  pace.note(TimePoint{} + 3s, kLine, 0ms);
  CHECK(pace.bytes_per_s() == 0);
}

TEST_CASE("tick by tick a link sends what its pace allows, in whole TLS records") {
  PaceShare share;
  CHECK(share.allowed() == SIZE_MAX);
  share.set(1e6);
  CHECK(share.allowed() == 0);
  std::size_t sent = 0;
  for (int i = 0; i < 1000; ++i) {
    share.tick(10ms);
    const std::size_t allowed = share.allowed();
    CHECK(allowed % (16 * 1024) == 0);
    share.sent(allowed);
    sent += allowed;
  }
  CHECK(sent == doctest::Approx(10e6).epsilon(0.002));
}

TEST_CASE("what a link could not send is kept for a moment, not for ever") {
  PaceShare share;
  share.set(1e6);
  for (int i = 0; i < 10; ++i) share.tick(10ms);
  CHECK(share.allowed() == 7 * 16 * 1024);
  for (int i = 0; i < 1000; ++i) share.tick(10ms);
  CHECK(share.allowed() == 13 * 16 * 1024);
  share.set(0);
  CHECK(share.allowed() == SIZE_MAX);
  share.set(1e6);
  CHECK(share.allowed() == 0);
}

TEST_CASE("the more streams share a line, and the slower it is, the rarer are ticks, within bounds") {
  LinePace pace = pace_at(kLine);
  CHECK(pace.next_tick(1, true, kPlanned) == 20ms);
  CHECK(pace.next_tick(6, true, kPlanned) > 29ms);
  CHECK(pace.next_tick(6, true, kPlanned) < 30ms);
  CHECK(pace.next_tick(7, true, kPlanned) > pace.next_tick(6, true, kPlanned));
  CHECK(pace.next_tick(50, true, kPlanned) == 40ms);
  CHECK(pace_at(kLine / 2).next_tick(3, true, kPlanned) == pace.next_tick(6, true, kPlanned));
  // A fast line's streams have that much to send in no time, but each stream makes a tick dearer.
  CHECK(pace_at(4 * kLine).next_tick(3, true, kPlanned) == 20ms);
  CHECK(pace_at(4 * kLine).next_tick(7, true, kPlanned) == 28ms);
}

// Speeds measured in long ticks rise too little from round to round where links wait for each other.
TEST_CASE("a line whose speed is still being found out has ticks without a pace, and no long ones") {
  LinePace pace;
  pace.begin(TimePoint{}, kPlanned, 0);
  CHECK_FALSE(pace.ticks());  // the line may well be a fast one
  pace.begin(TimePoint{}, kPlanned, kLine);
  CHECK(pace.ticks());
  CHECK(pace.bytes_per_s() == 0);
  CHECK(pace.next_tick(50, true, kPlanned) == 20ms);
}

TEST_CASE("what comes last in a round comes in short ticks, with a pace or without") {
  LinePace pace = pace_at(kLine);
  const Duration usual = pace.next_tick(6, true, kPlanned);
  CHECK(pace.next_tick(6, true, static_cast<std::int64_t>(kLine / 5)) == usual);
  CHECK(pace.next_tick(6, true, static_cast<std::int64_t>(kLine / 20)) == 5ms);
  pace.lift();
  CHECK(pace.next_tick(6, true, static_cast<std::int64_t>(kLine / 5)) == usual);
  CHECK(pace.next_tick(6, true, 0) == 5ms);
}

TEST_CASE("where others wait for each few bytes ticks are short, but not for those who wait for somebody far slower") {
  const auto short_ones = [](LinePace& pace) {
    int count = 0;
    while (count < 10'000 && pace.next_tick(6, false, kPlanned) == 5ms) ++count;
    return count;
  };
  LinePace pace = pace_at(kLine);
  CHECK(short_ones(pace) == 100);
  CHECK(short_ones(pace) == 0);
  CHECK(pace.next_tick(6, true, kPlanned) > 29ms);
  int closing = 0;
  while (closing < 10'000 && pace.next_tick(6, true, 0) == 5ms) ++closing;
  CHECK(closing == 100);
  pace.begin(TimePoint{}, kPlanned, kLine);
  CHECK(short_ones(pace) == 100);
}
