#include "client/trainer_link/deadlines.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::trainer_link;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {
constexpr DeadlineOptions kOptions{.floor = seconds(2), .patience = 5, .slowest_flops_per_s = 1e6};
}

TEST_CASE("before anything was seen, patience follows the work") {
  const Deadlines deadlines(kOptions);
  CHECK(deadlines.allowed(Command::train_batch, 1e6) == seconds(2));
  CHECK(deadlines.allowed(Command::train_batch, 1e7) == seconds(10));
}

TEST_CASE("patience is a multiple of the slowest call seen, scaled to the work") {
  Deadlines deadlines(kOptions);
  deadlines.observe(Command::train_batch, 1e9, seconds(1));
  deadlines.observe(Command::train_batch, 1e9, seconds(3));
  deadlines.observe(Command::train_batch, 1e9, seconds(1));
  CHECK(to_seconds(deadlines.allowed(Command::train_batch, 1e9)) == doctest::Approx(15).epsilon(0.05));
  CHECK(to_seconds(deadlines.allowed(Command::train_batch, 2e9)) == doctest::Approx(30).epsilon(0.05));
}

TEST_CASE("a fast machine is still given the floor, and another command learns nothing") {
  Deadlines deadlines(kOptions);
  deadlines.observe(Command::train_batch, 1e9, milliseconds(1));
  CHECK(deadlines.allowed(Command::train_batch, 1e9) == seconds(2));
  CHECK(deadlines.allowed(Command::evaluate, 1e7) == seconds(10));
}

TEST_CASE("one bad hour is forgotten") {
  Deadlines deadlines(kOptions);
  deadlines.observe(Command::train_batch, 1e9, seconds(3600));
  for (int i = 0; i < 1000; ++i) deadlines.observe(Command::train_batch, 1e9, seconds(1));
  CHECK(to_seconds(deadlines.allowed(Command::train_batch, 1e9)) == doctest::Approx(5));
}
