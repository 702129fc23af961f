#include "coordinator/core/forecast.h"

#include <doctest/doctest.h>

namespace starling::core::testing {

using std::chrono::seconds;

TEST_CASE("newcomers bring a quarter of what is expected, together and at most, while others compute") {
  const TimePoint now{seconds(100)};
  WeightForecast forecast;
  forecast.add({now, 0, 30, true});
  CHECK(forecast.samples_per_s() == doctest::Approx(30));
  forecast.add({now, 6, 6, false});
  CHECK(forecast.samples_per_s() == doctest::Approx(36));
  CHECK(forecast.expected(now) == 0);  // the others have nothing yet
  CHECK(forecast.expected(now + seconds(10)) == doctest::Approx(366));
  CHECK(forecast.reaches(366, now) == now + seconds(10));
  const Growth crowd{now, 1000, 100, false};
  forecast.add(crowd);
  CHECK(forecast.samples_per_s() == doctest::Approx(40));
  CHECK(forecast.samples().samples_per_s() == doctest::Approx(136));
  CHECK(forecast.expected(now + seconds(10)) == doctest::Approx(400));
  CHECK(forecast.reaches(400, now) == now + seconds(10));
  forecast.remove(crowd);
  CHECK(forecast.samples_per_s() == doctest::Approx(36));
}

TEST_CASE("newcomers alone are limited by nobody, and wait for hardly anything that others compute") {
  const TimePoint now{seconds(100)};
  WeightForecast forecast;
  forecast.add({now, 0, 100, false});
  CHECK(forecast.reaches(100, now) == now + seconds(1));
  forecast.add({now, 0, 0, true});  // has computed nothing yet
  CHECK(forecast.reaches(100, now) == now + seconds(1));
  forecast.add({now, 0, 0.01, true});
  CHECK(forecast.samples_per_s() < 0.02);
  CHECK(to_seconds(forecast.reaches(100, now) - now) == doctest::Approx(16).epsilon(0.001));
}

}  // namespace starling::core::testing
