#include "client/transport/rate_meter.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::transport;
using namespace std::chrono_literals;

TEST_CASE("only time in which more could have flowed counts") {
  RateMeter meter;
  TimePoint now{};
  CHECK(meter.bytes_per_s() == 0);
  for (int i = 0; i < 50; ++i) {  // 1 MB/s in bursts of 10 ms, with long rests between them
    meter.set_busy(now, true);
    now += 10ms;
    meter.add(now, 10'000);
    meter.set_busy(now, false);
    now += 500ms;
  }
  CHECK(meter.bytes_per_s() == doctest::Approx(1e6).epsilon(0.01));
}

TEST_CASE("bytes outside of busy time do not count") {
  RateMeter meter;
  meter.add(TimePoint{} + 1s, 1'000'000);
  CHECK(meter.bytes_per_s() == 0);
}

TEST_CASE("a faster link shows at once, a slow moment does not cost much") {
  RateMeter meter;
  TimePoint now{};
  meter.set_busy(now, true);
  const auto run = [&](int windows, std::size_t bytes_per_window) {
    for (int i = 0; i < windows; ++i) meter.add(now += RateMeter::kWindow, bytes_per_window);
  };
  run(10, 100'000);
  CHECK(meter.bytes_per_s() == doctest::Approx(1e6));
  run(5, 1'000'000);
  CHECK(meter.bytes_per_s() > 9.5e6);
  run(1, 0);
  CHECK(meter.bytes_per_s() > 9e6);
  run(200, 100'000);
  CHECK(meter.bytes_per_s() == doctest::Approx(1e6).epsilon(0.05));
}
