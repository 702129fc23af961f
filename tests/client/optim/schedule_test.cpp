#include "client/optim/schedule.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "shared/base/words.h"

using namespace starling;
using namespace starling::optim;

namespace {

wire::ScheduleOptions schedule(wire::ScheduleKind kind) {
  return {.kind = kind, .learning_rate = 1e-2, .warmup_rounds = 10, .total_rounds = 110, .final_fraction = 0.1};
}

}  // namespace

TEST_CASE("every schedule warms up on a straight line to its peak") {
  for (const wire::ScheduleKind kind : all_values<wire::ScheduleKind>()) {
    CHECK(learning_rate(schedule(kind), 0) == doctest::Approx(1e-3));
    CHECK(learning_rate(schedule(kind), 4) == doctest::Approx(5e-3));
    CHECK(learning_rate(schedule(kind), 9) == doctest::Approx(1e-2));
  }
}

TEST_CASE("a schedule without warm-up begins at its peak") {
  for (const wire::ScheduleKind kind : all_values<wire::ScheduleKind>()) {
    wire::ScheduleOptions cold = schedule(kind);
    cold.warmup_rounds = 0;
    CHECK(learning_rate(cold, 0) == doctest::Approx(1e-2));
  }
}

TEST_CASE("half a cosine falls to the final fraction and stays there") {
  const wire::ScheduleOptions cosine = schedule(wire::ScheduleKind::cosine);
  CHECK(learning_rate(cosine, 10) == doctest::Approx(1e-2));
  CHECK(learning_rate(cosine, 35) == doctest::Approx(1e-3 + 9e-3 * (1 + std::cos(std::numbers::pi / 4)) / 2));
  CHECK(learning_rate(cosine, 60) == doctest::Approx(1e-3 + 0.5 * 9e-3));
  CHECK(learning_rate(cosine, 110) == doctest::Approx(1e-3));
  CHECK(learning_rate(cosine, 100000) == doctest::Approx(1e-3));
}

TEST_CASE("a straight line falls to the final fraction and stays there") {
  const wire::ScheduleOptions linear = schedule(wire::ScheduleKind::linear);
  CHECK(learning_rate(linear, 10) == doctest::Approx(1e-2));
  CHECK(learning_rate(linear, 35) == doctest::Approx(1e-3 + 0.75 * 9e-3));
  CHECK(learning_rate(linear, 110) == doctest::Approx(1e-3));
  CHECK(learning_rate(linear, 100000) == doctest::Approx(1e-3));
}

TEST_CASE("the inverse square root goes on falling, a constant rate does not") {
  CHECK(learning_rate(schedule(wire::ScheduleKind::inverse_sqrt), 39) == doctest::Approx(5e-3));
  CHECK(learning_rate(schedule(wire::ScheduleKind::inverse_sqrt), 999) == doctest::Approx(1e-3));
  CHECK(learning_rate(schedule(wire::ScheduleKind::constant), 100000) == doctest::Approx(1e-2));
}
