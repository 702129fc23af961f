#include "tests/sim/moshpit.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "tests/sim/moshpit_command.h"
#include "tests/sim/progress.h"

using namespace starling::sim;

namespace {

constexpr double kGoal = 1e-9;
constexpr int kRepetitions = 20;

AveragingSetup setup_of(AveragingMethod method, std::size_t peers, double failure_rate) {
  return {method, peers, {32, 32}, failure_rate, 50};
}

double rounds_to_goal(AveragingMethod method, std::size_t peers, double failure_rate) {
  return averaging_curve(setup_of(method, peers, failure_rate), kRepetitions, 1, kGoal).rounds_to_goal;
}

// Rounds to 1e-9 at these failure rates in the simulator of Moshpit's authors (code of arXiv 2103.03239), on a grid
// whose cells are fixed for good.
constexpr std::array kRates{0.0, 0.001, 0.005, 0.01};
struct Theirs {
  AveragingMethod method;
  std::size_t peers;
  std::array<double, 4> rounds;
};

}  // namespace

TEST_CASE("Moshpit and random groups take as many rounds as in their authors' simulator, give or take one") {
  constexpr Theirs kTable[] = {
      {AveragingMethod::moshpit, 1024, {2.0, 3.4, 5.0, 5.9}},
      {AveragingMethod::moshpit, 900, {5.0, 5.1, 5.9, 6.5}},
      {AveragingMethod::random_groups, 1024, {6.2, 6.5, 6.7, 6.9}},
      {AveragingMethod::random_groups, 900, {6.4, 6.3, 6.7, 7.0}},
  };
  for (const Theirs& row : kTable) {
    for (std::size_t k = 0; k < kRates.size(); ++k) {
      CAPTURE(to_string(row.method));
      CAPTURE(row.peers);
      CAPTURE(kRates[k]);
      CHECK(std::abs(rounds_to_goal(row.method, row.peers, kRates[k]) - row.rounds[k]) <= 1.0);
    }
  }
}

TEST_CASE("the planned grid is not behind Moshpit, and ahead where the grid is not full") {
  constexpr double kNoise = 0.3;  // noise of a mean over twenty
  for (const double rate : kRates) {
    CAPTURE(rate);
    CHECK(rounds_to_goal(AveragingMethod::planned_grid, 1024, rate) <=
          rounds_to_goal(AveragingMethod::moshpit, 1024, rate) + kNoise);
    CHECK(rounds_to_goal(AveragingMethod::planned_grid, 900, rate) <=
          rounds_to_goal(AveragingMethod::moshpit, 900, rate) - kNoise);
  }
}

TEST_CASE("the planned grid is exact after two rounds for any number of peers") {
  for (const std::size_t peers : {60, 512, 900, 1000}) {
    AveragingSetup setup = setup_of(AveragingMethod::planned_grid, peers, 0);
    setup.sides = automatic_sides(peers);
    setup.rounds = 2;
    CAPTURE(peers);
    CHECK(std::sqrt(averaging_errors(setup, 1).back()) <= 1e-12);
  }
}

TEST_CASE("all-reduce with restarts is done in the first round in which nobody fails") {
  CHECK(rounds_to_goal(AveragingMethod::all_reduce, 1024, 0) == 1.0);
  CHECK(rounds_to_goal(AveragingMethod::all_reduce, 1024, 0.01) == 50.0);
  // 1 / 0.999^1024 = 2.79 on average, and geometric: its deviation over 200 runs is 0.16.
  const AveragingSetup setup = setup_of(AveragingMethod::all_reduce, 1024, 0.001);
  const AveragingCurve curve = averaging_curve(setup, 200, 1, kGoal);
  CHECK(std::abs(curve.rounds_to_goal - 2.79) <= 0.64);
}

TEST_CASE("gossip with neighbours does not get there") {
  CHECK(rounds_to_goal(AveragingMethod::gossip, 1024, 0) == 50.0);
}

TEST_CASE("random groups leave (r - 1) / N + r / N^2 of the variance each round") {
  struct Case {
    std::size_t peers;
    std::uint32_t size;
  };
  for (const Case& one : {Case{1024, 32}, Case{1000, 10}, Case{5000, 50}}) {
    const AveragingSetup setup{AveragingMethod::random_groups, one.peers, {one.size}, 0, 1};
    const auto whole_groups = one.peers / one.size;
    const auto groups = static_cast<double>(whole_groups);
    const auto n = static_cast<double>(one.peers);
    const double expected = (groups - 1) / n + groups / (n * n);
    // One round of 32 groups deviates by a quarter; the mean of 1600 by less than a hundredth.
    const AveragingCurve curve = averaging_curve(setup, 1600, 1, kGoal);
    CAPTURE(one.peers);
    CHECK(curve.errors.back() == doctest::Approx(expected).epsilon(0.02));
  }
}

TEST_CASE("100 000 peers that fail one time in twenty agree geometrically on a 50x50x50 grid") {
  for (const AveragingMethod method : {AveragingMethod::moshpit, AveragingMethod::planned_grid}) {
    const std::vector<double> errors = averaging_errors({method, 100'000, {50, 50, 50}, 0.05, 9}, 1);
    for (std::size_t t = 1; t < errors.size(); ++t) CHECK(errors[t] < 0.3 * errors[t - 1]);
    CHECK(errors.back() < 1e-9);
  }
}

TEST_CASE("equal seeds give equal curves") {
  const AveragingSetup setup = setup_of(AveragingMethod::planned_grid, 100, 0.05);
  CHECK(averaging_errors(setup, 7) == averaging_errors(setup, 7));
  CHECK(averaging_errors(setup, 7) != averaging_errors(setup, 8));
}

TEST_CASE("the automatic grid holds everybody and is no larger than it must be") {
  CHECK(automatic_sides(1024) == std::vector<std::uint32_t>{32, 32});
  CHECK(automatic_sides(1025) == std::vector<std::uint32_t>{33, 33});
  CHECK(automatic_sides(100'000) == std::vector<std::uint32_t>{47, 47, 47});
}

TEST_CASE("durations are told in the two units that matter") {
  CHECK(readable_duration(0.4) == "0 s");
  CHECK(readable_duration(59.6) == "1 min 0 s");
  CHECK(readable_duration(184) == "3 min 4 s");
  CHECK(readable_duration(3720) == "1 h 2 min");
}
