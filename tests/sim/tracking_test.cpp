#include "tests/sim/tracking.h"

#include <doctest/doctest.h>

using namespace starling::sim;

namespace {

double error_after(TrackingMethod method, double step, int gossips = 4) {
  return tracking_errors({.method = method, .step = step, .gossips = gossips}, 1).back();
}

}  // namespace

TEST_CASE("where data differ, mixing parameters stalls, tracking gradients does not, and accelerated gossip is exact") {
  // Each method runs at the best of the steps that `starling-sim tracking` tries.
  const double gossip = error_after(TrackingMethod::d_psgd, 0.001);
  const double tracking = error_after(TrackingMethod::gradient_tracking, 0.003);
  CHECK(gossip > 0.5);
  CHECK(tracking < 0.02 * gossip);
  CHECK(error_after(TrackingMethod::detag, 0.1) < 1e-12);
}

TEST_CASE("a single gossip a step with the momentum of many diverges") {
  CHECK(error_after(TrackingMethod::detag, 0.01, 1) > 1e6);
}
