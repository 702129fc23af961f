#include "shared/swarm/departures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace starling::swarm;

TEST_CASE("where nobody departs, all is kept, and computing takes as long as it does, to the bit") {
  CHECK(kept(0, 1e9) == 1);
  CHECK(kept(1, 0) == 1);
  const std::vector<Place> places{{3, 0, 10}, {7.3, 0, 0}, {0.1, 0, 5}};
  CHECK(kept(places, 100) == 1);
  CHECK(seconds_to_compute(places, 1234) == 1234 / (3 + 7.3 + 0.1));
}

TEST_CASE("equal places have the closed form's time, and none where they depart too soon") {
  for (const double departures_per_s : {1e-9, 1e-4, 0.01, 0.1}) {
    CAPTURE(departures_per_s);
    const std::vector<Place> places(5, {2, departures_per_s, 3});
    const double speed = 10 * std::exp(-3 * departures_per_s);
    const double samples = std::min(100.0, 0.999 * speed / departures_per_s);
    CHECK(seconds_to_compute(places, samples) ==
          doctest::Approx(-std::log1p(-departures_per_s * samples / speed) / departures_per_s));
    CHECK(std::isinf(seconds_to_compute(places, 1.001 * speed / departures_per_s)));
  }
}

TEST_CASE("one that stays ends every round, however often the others depart") {
  const std::vector<Place> places{{1, 0, 0}, {100, 1, 0}};
  CHECK(seconds_to_compute(places, 1100) == doctest::Approx(1000));
  CHECK(kept(places, 1e6) == doctest::Approx(1.0 / 101).epsilon(0.01));
}

// Places that take turns by chance, each begun long before.
TEST_CASE("what is left in the end is what chance leaves") {
  constexpr double kDeparturesPerS = 0.02;
  constexpr double kEmptyS = 7;
  constexpr double kSeconds = 40;
  constexpr int kPlaces = 200'000;
  std::mt19937_64 rng(1);
  std::exponential_distribution<double> since(kDeparturesPerS);
  double samples = 0;
  for (int place = 0; place < kPlaces; ++place) samples += std::clamp(since(rng) - kEmptyS, 0.0, kSeconds);
  const std::vector<Place> places(kPlaces, {1, kDeparturesPerS, kEmptyS});
  CHECK(seconds_to_compute(places, samples) == doctest::Approx(kSeconds).epsilon(0.01));
}
