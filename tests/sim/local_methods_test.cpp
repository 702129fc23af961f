#include "tests/sim/local_methods.h"

#include <doctest/doctest.h>

#include "tests/sim/decentralized_command.h"

using namespace starling;
using namespace starling::sim;

namespace {

constexpr int kSteps = 1000;

double averaged_gradients(std::size_t workers, double rate) {
  DecentralizedSetup setup;
  setup.optimizer = TeacherProblem::optimizer(wire::OptimizerKind::adamw);
  setup.learning_rate = rate;
  setup.workers = workers;
  setup.batch = 4;
  setup.steps = kSteps;
  return train_decentralized(setup, 1)->excess_loss;
}

LocalSetup setup_of(LocalMethod method, int interval, double rate) {
  LocalSetup setup{.method = method, .interval = interval, .learning_rate = rate};
  setup.steps = kSteps;
  return setup;
}

}  // namespace

TEST_CASE("one worker's local steps are plain training, whenever it would have met the others") {
  for (const LocalMethod method : {LocalMethod::fed_avg, LocalMethod::gossip_pairs}) {
    LocalSetup setup = setup_of(method, 50, 2e-3);
    setup.workers = 1;
    CHECK(*train_locally(setup, 1) == doctest::Approx(averaged_gradients(1, 2e-3)).epsilon(1e-3));
  }
}

TEST_CASE("every local-step method keeps most of what averaging gradients at every step gains over training alone") {
  const double alone = averaged_gradients(1, 2e-3), together = averaged_gradients(8, 4e-3);
  CHECK(together < alone - 0.1);
  const auto closed = [&](LocalMethod method, int interval, double rate) {
    return gap_closed(together, alone, *train_locally(setup_of(method, interval, rate), 1));
  };
  CHECK(closed(LocalMethod::diloco, 10, 1e-3) > 0.71);
  CHECK(closed(LocalMethod::sparse_loco, 10, 8e-3) > 0.63);
  CHECK(closed(LocalMethod::diloco, 50, 2e-3) > 0.55);
  CHECK(closed(LocalMethod::fed_avg, 50, 8e-3) > 0.55);
  CHECK(closed(LocalMethod::noloco, 50, 4e-3) > 0.55);
  CHECK(closed(LocalMethod::gossip_pairs, 50, 4e-3) > 0.48);
}

TEST_CASE("steps that go on while a meeting's average is under way keep most of that gain, too") {
  const double alone = averaged_gradients(1, 2e-3), together = averaged_gradients(8, 4e-3);
  const auto closed = [&](LocalMethod method, int interval) {
    LocalSetup setup = setup_of(method, interval, 2e-3);
    setup.delay = interval / 2;
    return gap_closed(together, alone, *train_locally(setup, 1));
  };
  CHECK(closed(LocalMethod::diloco, 50) > 0.5);
  CHECK(closed(LocalMethod::eager_diloco, 50) > 0.5);
  CHECK(closed(LocalMethod::streaming_diloco, 50 / kFragments) > 0.5);
}

TEST_CASE("NoLoCo with a mean of all once in a while, as rounds have it, is no worse than without") {
  LocalSetup setup = setup_of(LocalMethod::noloco, 50, 4e-3);
  const double without = *train_locally(setup, 1);
  setup.mean_every = 5;
  CHECK(*train_locally(setup, 1) < without + 0.01);
}

TEST_CASE("equal seeds train to equal losses") {
  LocalSetup setup = setup_of(LocalMethod::noloco, 50, 4e-3);
  setup.steps = 100;
  CHECK(*train_locally(setup, 7) == *train_locally(setup, 7));
  CHECK(*train_locally(setup, 7) != *train_locally(setup, 8));
}
