#include "tests/sim/consensus_control.h"

#include <doctest/doctest.h>

using namespace starling::sim;

TEST_CASE("parameters are to be mixed when they are further apart than a share of the gradients' length") {
  ConsensusControl control(0.1);
  control.on_gradients(5);
  CHECK_FALSE(control.must_mix(0.49));
  CHECK(control.must_mix(0.51));
}

TEST_CASE("what is allowed follows the gradients slowly, down as well as up") {
  ConsensusControl control(1);
  control.on_gradients(10);
  control.on_gradients(0);
  CHECK_FALSE(control.must_mix(8.9));  // one step without a gradient takes a tenth off
  CHECK(control.must_mix(9.1));
  for (int step = 0; step < 100; ++step) control.on_gradients(2);
  CHECK_FALSE(control.must_mix(1.99));
  CHECK(control.must_mix(2.01));
}

TEST_CASE("equal parameters never have to be mixed, different ones always where gradients vanish") {
  ConsensusControl control(1);
  CHECK_FALSE(control.must_mix(0));
  control.on_gradients(0);
  CHECK_FALSE(control.must_mix(0));
  CHECK(control.must_mix(1e-12));
}
