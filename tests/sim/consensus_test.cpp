#include <doctest/doctest.h>

#include "tests/sim/decentralized.h"

using namespace starling;
using namespace starling::sim;

namespace {

constexpr int kSteps = 1000;

DecentralizedResult train(double consensus_distance_ratio, double consensus_bound = 0) {
  DecentralizedSetup setup;
  setup.topology = swarm::FormationSpec{swarm::FormationSpec::Kind::exponential_pairs, {}};
  setup.optimizer = TeacherProblem::optimizer(wire::OptimizerKind::adamw);
  setup.learning_rate = 8e-3;
  setup.final_fraction = 0.05;
  setup.steps = kSteps;
  setup.consensus_distance_ratio = consensus_distance_ratio;
  setup.consensus_bound = consensus_bound;
  return *train_decentralized(setup, 1);
}

}  // namespace

TEST_CASE("mixing when workers are apart, not at every step, loses nothing; far too seldom does") {
  const DecentralizedResult every = train(0), controlled = train(0.05), seldom = train(1);
  CHECK(every.gossips == kSteps);
  CHECK(controlled.gossips < kSteps / 2);
  CHECK(controlled.excess_loss < every.excess_loss + 0.01);
  CHECK(seldom.gossips < kSteps / 20);
  CHECK(seldom.excess_loss > every.excess_loss + 0.05);
}

TEST_CASE("workers that know only how far they were from the one that they met keep to the bound, and lose as little") {
  const DecentralizedResult every = train(0), bounded = train(0, 0.03), wide = train(0, 0.1);
  CHECK(bounded.gossips < kSteps / 3);
  CHECK(bounded.excess_loss < every.excess_loss + 0.01);
  CHECK(bounded.consensus_distance < 0.03);
  CHECK(wide.gossips < bounded.gossips / 2);
}
