#include "shared/swarm/gossip_interval.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace starling::swarm;

TEST_CASE("without a bound mixings are so many steps apart, whatever they find") {
  GossipInterval interval(7, 0);
  CHECK(!interval.measures());
  interval.on_mixed(1e-9, 2, 7);
  CHECK(interval.steps() == 7);
}

TEST_CASE("the interval follows how fast members drift apart, and is where they are as far apart as they may be") {
  GossipInterval interval(1, 0.02);
  // Pairs whose consensus distance grows by a thousandth of the parameters' length in a step.
  const auto mix = [&interval](double a_step) {
    const int steps = interval.steps();
    interval.on_mixed(a_step * steps / std::sqrt(2.0), 2, steps);
  };
  for (int gossip = 0; gossip < 8; ++gossip) mix(0.001);
  CHECK(interval.steps() == 20);
  for (int gossip = 0; gossip < 8; ++gossip) mix(0.004);
  CHECK(interval.steps() == 5);
  for (int gossip = 0; gossip < 8; ++gossip) mix(1);
  CHECK(interval.steps() == 1);  // never less than one
}

TEST_CASE("a group of three tells more of the spread than a pair") {
  GossipInterval pair(1, 0.1), three(1, 0.1);
  pair.on_mixed(0.1, 2, 100);
  three.on_mixed(0.1, 3, 100);
  CHECK(pair.steps() == 71);   // sqrt(1 / 2)
  CHECK(three.steps() == 82);  // sqrt(2 / 3)
}

TEST_CASE("those who meet go on with the same interval, however long each of them had waited for the other") {
  GossipInterval fast(8, 0.01), slow(8, 0.01);
  slow.on_mixed(0.001, 2, 32);
  fast.on_mixed(0.004, 2, 32);
  slow.on_mixed(0.004, 2, 32);
  CHECK(fast.steps() == slow.steps());
}
