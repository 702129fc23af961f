#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "shared/base/clock.h"
#include "tests/client/trainer_link/tiny_run.h"

using namespace starling;
using namespace starling::trainer_link;
using namespace starling::trainer_link::testing;

namespace {

constexpr int kRounds = 3;
constexpr int kDeaths = 40;

// About 800 000 parameters: 50 blocks, so that a death finds the step half done.
TrainerProcessOptions wide_options(const std::string& behaviour) {
  TrainerProcessOptions options = tiny_options(TEST_CHILD, behaviour);
  options.manifest = tiny_manifest(256, 1);
  options.restarts.deaths_per_minute = 1000;
  return options;
}

std::vector<float> gradient_of(RoundIndex round, std::size_t size) {
  std::vector<float> gradient(size);
  for (std::size_t i = 0; i < size; ++i) {
    gradient[i] = static_cast<float>(static_cast<int>((i * 31 + static_cast<std::size_t>(round)) % 101) - 50) * 1e-3F;
  }
  return gradient;
}

struct Outcome {
  std::vector<float> state;
  std::int64_t steps_taken_here = 0;
  Duration slowest{0};
};

// Runs several rounds with one child each, which `behaviour` may kill in its step.
Outcome run(const std::string& behaviour) {
  auto trainer = TrainerProcess::create(wide_options(behaviour));
  REQUIRE(trainer.ok());
  const SystemClock clock;
  Outcome outcome;
  REQUIRE((*trainer)->initialize().ok());
  for (RoundIndex round = 0; round < kRounds; ++round) {
    REQUIRE((*trainer)->evaluate().ok());  // a child exists from here on
    const TimePoint begun = clock.now();
    REQUIRE((*trainer)->step(round, gradient_of(round, (*trainer)->layout().parameter_count)).ok());
    outcome.slowest = std::max(outcome.slowest, clock.now() - begun);
  }
  outcome.state.assign((*trainer)->state().begin(), (*trainer)->state().end());
  outcome.steps_taken_here = (*trainer)->view().steps_taken_here;
  return outcome;
}

}  // namespace

TEST_CASE("steps interrupted by death at any moment end in the same bits") {
  const Outcome undisturbed = run("");
  REQUIRE(undisturbed.steps_taken_here == 0);
  const auto span = std::chrono::duration_cast<std::chrono::microseconds>(undisturbed.slowest).count() + 1;
  std::int64_t rescued = 0;
  for (int i = 0; i < kDeaths; ++i) {
    const auto delay = span * i / kDeaths;
    CAPTURE(delay);
    const Outcome disturbed = run("die_in_step " + std::to_string(delay));
    rescued += disturbed.steps_taken_here;
    REQUIRE(disturbed.state.size() == undisturbed.state.size());
    CHECK(std::memcmp(disturbed.state.data(), undisturbed.state.data(), disturbed.state.size() * sizeof(float)) == 0);
  }
  CHECK(rescued > 0);
}
