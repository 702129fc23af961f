#include "client/transport/line_pace.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::transport;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kPlanned = 20'000'000;
constexpr double kLine = 10e6;

}  // namespace

TEST_CASE("a line whose speed is known paces its links just above it, but now and then a round is free") {
  LinePace pace;
  for (std::uint64_t round = 0; round < 3 * LinePace::kFreeEvery; ++round) {
    pace.begin(TimePoint{}, kPlanned, kLine);
    if (round % LinePace::kFreeEvery == 0) {
      CHECK(pace.bytes_per_s() == 0);
    } else {
      CHECK(pace.bytes_per_s() > kLine);
      CHECK(pace.bytes_per_s() < 1.05 * kLine);
    }
  }
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
  CHECK(pace.bytes_per_s() > line);
}

TEST_CASE("a line that is not what links wait for needs no pace") {
  LinePace pace;
  for (int round = 0; round < 4; ++round) {
    pace.begin(TimePoint{}, kPlanned, 500e6);
    CHECK(pace.bytes_per_s() == 0);
  }
}

TEST_CASE("a pace is over when links have less to do than planned, and when the round is late") {
  LinePace pace;
  const TimePoint began{};
  pace.begin(began, kPlanned, kLine);
  pace.begin(began, kPlanned, kLine);
  REQUIRE(pace.bytes_per_s() > 0);
  pace.lift();
  CHECK(pace.bytes_per_s() == 0);
  pace.begin(began, kPlanned, kLine);  // two seconds
  pace.note(began + 2500ms);
  CHECK(pace.bytes_per_s() > 0);
  pace.note(began + 3s);
  CHECK(pace.bytes_per_s() == 0);
}
