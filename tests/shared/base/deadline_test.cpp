#include "shared/base/deadline.h"

#include <doctest/doctest.h>

using namespace starling;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {
constexpr DeadlineOptions kOptions{
    .floor = seconds(2), .longest = seconds(600), .patience = 5, .unseen_work_per_s = 1e6};
}

TEST_CASE("before anything was seen, patience follows the work") {
  const Deadline deadline(kOptions);
  CHECK(deadline.allowed(1e6) == seconds(2));
  CHECK(deadline.allowed(1e7) == seconds(10));
}

TEST_CASE("patience is a multiple of the slowest call seen, scaled to the work") {
  Deadline deadline(kOptions);
  deadline.observe(seconds(1), 1e9);
  deadline.observe(seconds(3), 1e9);
  deadline.observe(seconds(1), 1e9);
  CHECK(to_seconds(deadline.allowed(1e9)) == doctest::Approx(15).epsilon(0.05));
  CHECK(to_seconds(deadline.allowed(2e9)) == doctest::Approx(30).epsilon(0.05));
}

TEST_CASE("patience stays between its bounds, however fast or slow calls are") {
  Deadline deadline(kOptions);
  deadline.observe(milliseconds(1), 1e9);
  CHECK(deadline.allowed(1e9) == seconds(2));
  deadline.observe(seconds(1000), 1e9);
  CHECK(deadline.allowed(1e9) == seconds(600));
}

TEST_CASE("one bad hour is forgotten") {
  Deadline deadline(kOptions);
  deadline.observe(seconds(3600), 1e9);
  for (int i = 0; i < 1000; ++i) deadline.observe(seconds(1), 1e9);
  CHECK(to_seconds(deadline.allowed(1e9)) == doctest::Approx(5));
}

TEST_CASE("a call that was given up doubles the patience, up to its bound, and what is learned later counts again") {
  Deadline deadline(kOptions);
  deadline.on_timeout(1e7);
  CHECK(to_seconds(deadline.allowed(1e7)) == doctest::Approx(20));
  for (int i = 0; i < 10; ++i) deadline.on_timeout(1e7);
  CHECK(deadline.allowed(1e7) == seconds(600));
  for (int i = 0; i < 1000; ++i) deadline.observe(seconds(1), 1e7);
  CHECK(to_seconds(deadline.allowed(1e7)) == doctest::Approx(5));
}
