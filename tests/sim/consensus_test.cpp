#include <doctest/doctest.h>

#include "tests/sim/decentralized.h"

using namespace starling;
using namespace starling::sim;

namespace {

constexpr int kSteps = 1000;

DecentralizedResult train(double spread_ratio, double consensus_bound = 0) {
  DecentralizedSetup setup;
  setup.topology = swarm::FormationSpec{swarm::FormationSpec::Kind::exponential_pairs, {}};
  setup.optimizer = TeacherProblem::optimizer("adamw");
  setup.learning_rate = 8e-3;
  setup.final_fraction = 0.05;
  setup.steps = kSteps;
  setup.spread_ratio = spread_ratio;
  setup.consensus_bound = consensus_bound;
  return *train_decentralized(setup, 1);
}

}  // namespace

TEST_CASE("mixing when workers are apart, not at every step, loses nothing; far too seldom does") {
  const DecentralizedResult every = train(0), controlled = train(0.05), seldom = train(1);
  CHECK(every.mixings == kSteps);
  CHECK(controlled.mixings < kSteps / 2);
  CHECK(controlled.excess_loss < every.excess_loss + 0.01);
  CHECK(seldom.mixings < kSteps / 20);
  CHECK(seldom.excess_loss > every.excess_loss + 0.05);
}

TEST_CASE("workers that know only how far they were from the one that they met keep to the bound, and lose as little") {
  const DecentralizedResult every = train(0), bounded = train(0, 0.03), wide = train(0, 0.1);
  CHECK(bounded.mixings < kSteps / 3);
  CHECK(bounded.excess_loss < every.excess_loss + 0.01);
  CHECK(bounded.spread < 0.03);
  CHECK(wide.mixings < bounded.mixings / 2);
}
