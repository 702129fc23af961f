#include "tests/sim/departures.h"

#include <doctest/doctest.h>

#include <cmath>

namespace starling::sim {

TEST_CASE("what plans say of volunteers who come and go is what a swarm finds whose volunteers are killed") {
  for (const DeparturesSetting& setting : departures_settings()) {
    CAPTURE(setting.name);
    const auto result = compare_departures(setting, 1, 2);
    REQUIRE_MESSAGE(result.ok(), result.status().error().message);
    CHECK(std::abs(result->undisturbed.predicted / result->undisturbed.simulated - 1) < 0.1);
    CHECK(std::abs(result->with_kills.predicted / result->with_kills.simulated - 1) < 0.1);
  }
}

}  // namespace starling::sim
