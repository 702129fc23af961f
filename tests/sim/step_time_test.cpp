#include "tests/sim/step_time.h"

#include <doctest/doctest.h>

#include "tests/sim/step_recurrences.h"

using namespace starling;
using namespace starling::sim;

namespace {

double speed_up(const StepTime& time) { return time.all_reduce_ms / time.decentralized_ms; }

StepTimeSetup jittering(std::size_t workers) {
  StepTimeSetup setup;
  setup.workers = workers;
  setup.all_reduce_ms = setup.gossip_ms = 1;
  return setup;
}

}  // namespace

TEST_CASE("without jitter simulated steps take what the closed forms say") {
  for (const double communication : {10.0, 50.0, 100.0, 200.0}) {
    StepTimeSetup setup;
    setup.all_reduce_ms = setup.gossip_ms = communication;
    const StepTime closed = undisturbed_step_time(setup), simulated = step_time(setup, 1);
    CHECK(simulated.all_reduce_ms == doctest::Approx(closed.all_reduce_ms));
    CHECK(simulated.decentralized_ms == doctest::Approx(closed.decentralized_ms));
  }
  CHECK(undisturbed_step_time({}).all_reduce_ms == doctest::Approx(140));
  CHECK(undisturbed_step_time({}).decentralized_ms == doctest::Approx(100));
}

TEST_CASE("pairs lose little to jitter that holds everybody's all-reduce up") {
  StepTimeSetup jitter = jittering(1024);
  jitter.jitter = 0.2;
  CHECK(speed_up(step_time(jitter, 1)) >= 1.5);
  StepTimeSetup stragglers = jittering(1024);
  stragglers.jitter = 0.05;
  stragglers.straggler_rate = 0.01;
  CHECK(speed_up(step_time(stragglers, 1)) >= 3);
  CHECK(speed_up(step_time(jittering(1024), 1)) < 1.1);
}
