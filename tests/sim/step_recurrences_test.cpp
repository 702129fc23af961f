#include "tests/sim/step_recurrences.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace starling::sim;
using starling::swarm::Groups;
using starling::swarm::PeerIndex;

namespace {

constexpr std::size_t kBuckets = 10;

StepCosts equal_buckets(double forward_s, double backward_s, double communication_s) {
  return {forward_s, std::vector<double>(kBuckets, backward_s / kBuckets),
          std::vector<double>(kBuckets, communication_s / kBuckets)};
}

Groups groups_of(const std::vector<std::vector<PeerIndex>>& members) {
  Groups groups;
  for (const std::vector<PeerIndex>& group : members) {
    for (const PeerIndex peer : group) groups.add(peer);
    groups.close_group();
  }
  return groups;
}

}  // namespace

TEST_CASE("without jitter steps take what the closed forms say") {
  const std::array slowdown{1.0, 1.0};
  for (const double forward : {1.0 / 3, 0.2, 0.5}) {
    for (const double communication : {0.1, 0.4, 1.0, 2.0}) {
      const double backward = 1 - forward;
      AllReduceSteps all_reduce(equal_buckets(forward, backward, communication));
      DecentralizedSteps decentralized(equal_buckets(forward, backward, communication), 2);
      double reduced_s = 0, mixed_s = 0, before_s = 0;
      for (int step = 0; step < 20; ++step) {
        reduced_s = all_reduce.step(slowdown);
        before_s = mixed_s;
        mixed_s = decentralized.step(slowdown, groups_of({{0, 1}}));
      }
      CHECK(reduced_s / 20 == doctest::Approx(forward + std::max(backward + communication / kBuckets,
                                                                 backward / kBuckets + communication)));
      CHECK(mixed_s - before_s == doctest::Approx(std::max(1.0, communication)));
    }
  }
}

TEST_CASE("with as much to send as to compute, a third of it forward, overlap saves 2/7 of the time") {
  AllReduceSteps all_reduce(equal_buckets(100.0 / 3, 200.0 / 3, 100));
  CHECK(all_reduce.step(std::array{1.0, 1.0}) == doctest::Approx(140));
}

TEST_CASE("a worker's slow step holds up everybody's all-reduce, and its own partner's mixing alone") {
  const StepCosts costs = equal_buckets(0.3, 0.7, 0.1);
  const std::array slow{1.0, 1.0, 5.0, 1.0}, even{1.0, 1.0, 1.0, 1.0};
  AllReduceSteps all_reduce(costs);
  CHECK(all_reduce.step(slow) == doctest::Approx(5.01));
  DecentralizedSteps decentralized(costs, 4);
  // Nobody has waited for gossip yet: it ends before the computing does.
  CHECK(decentralized.step(slow, groups_of({{0, 1}, {2, 3}})) == doctest::Approx((1.0 + 1 + 5 + 1) / 4));
  // 3 waits for the gossip with 2, bucket by bucket; the last bucket comes 0.01 after 2's step.
  CHECK(decentralized.step(even, groups_of({{0, 1}, {2, 3}})) == doctest::Approx((2.0 + 2 + 6 + 5.01) / 4));
}

TEST_CASE("a line carries one mixing after the other, and who has no partner waits for nobody") {
  DecentralizedSteps pairs(equal_buckets(0.5, 0.5, 4), 3);
  const std::array even{1.0, 1.0, 1.0};
  double last = 0, now = 0;
  for (int step = 0; step < 10; ++step) {
    last = now;
    now = pairs.step(even, groups_of({{0, 1}, {2}}));
  }
  CHECK(now - last == doctest::Approx((4.0 + 4 + 1) / 3));
}

TEST_CASE("a ring all-reduce moves almost two vectors, whatever the number of workers") {
  CHECK(ring_all_reduce_s(16, 260e6, 25e9 / 8, 0) == doctest::Approx(0.156));
  CHECK(ring_all_reduce_s(2, 1, 1, 0) == 1);
  CHECK(ring_all_reduce_s(3, 0, 1, 0.5) == 2);
  CHECK(ring_all_reduce_s(1, 1, 1, 1) == 0);
}
