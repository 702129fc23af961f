// The planner's view of members that train: their computers, their lines, and how often one of them stops.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

using std::chrono::seconds;

double departures_per_s(const Swarm& swarm) {
  const auto hosts = swarm.coordinator->hosts();
  REQUIRE(!hosts.empty());
  return hosts.front().departures_per_s;
}

}  // namespace

TEST_CASE("what computers and lines are like is what their calls tell; what nobody tells is as usual, or nothing") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 10 * i);
  for (int i = 1; i <= 3; ++i) {
    swarm.member(i).line_bytes_per_s = 1e6 * i;
    swarm.member(i).batch_jitter = 0.1 * i;
    swarm.member(i).round_trip_s = 0.04 + 0.02 * i;
  }
  swarm.run_for(seconds(5));
  const auto hosts = swarm.coordinator->hosts();
  REQUIRE(hosts.size() == 4);
  for (int i = 1; i <= 4; ++i) {
    CAPTURE(i);
    const auto host = std::find_if(hosts.begin(), hosts.end(), [&](const swarm::Host& each) {
      return each.samples_per_s == doctest::Approx(10 * i);
    });
    REQUIRE(host != hosts.end());
    CHECK(host->link.upload == doctest::Approx(i == 4 ? 2e6 : 1e6 * i));
    CHECK(host->jitter == doctest::Approx(i == 4 ? 0 : 0.1 * i));
    CHECK(host->delay_s == doctest::Approx(i == 4 ? 0.02 : 0.01 * i));
  }
}

TEST_CASE("who stops departs, whatever for: it pauses, begins anew, leaves or vanishes") {
  Swarm swarm;
  for (int i = 1; i <= 6; ++i) swarm.add(i);
  swarm.run_for(seconds(5));
  // Minutes in which nobody stops still allow one stop in eight hours.
  const double once = departures_per_s(swarm);
  CHECK(once == doctest::Approx(1.0 / (8 * 3600)).epsilon(0.01));
  const auto departed = [&] { return departures_per_s(swarm) / once - 1; };
  swarm.run_for(seconds(20));
  CHECK(departed() == doctest::Approx(0).epsilon(0.05));

  swarm.member(1).paused = true;
  swarm.run_for(seconds(5));
  CHECK(departed() == doctest::Approx(1).epsilon(0.05));
  swarm.member(1).paused = false;
  swarm.run_for(seconds(5));
  CHECK(departed() == doctest::Approx(1).epsilon(0.05));

  VirtualMember& anew = swarm.member(2);
  anew.phase = wire::MemberPhase::joining;
  anew.synced = false;
  anew.state = Digest{};
  anew.group.reset();
  swarm.call(anew);
  CHECK(departed() == doctest::Approx(2).epsilon(0.05));

  swarm.member(3).phase = wire::MemberPhase::leaving;
  swarm.call(swarm.member(3));
  swarm.member(3).alive = false;
  CHECK(departed() == doctest::Approx(3).epsilon(0.05));

  swarm.member(4).alive = false;
  swarm.run_for(seconds(30));
  CHECK(departed() == doctest::Approx(4).epsilon(0.05));
}

}  // namespace starling::core::testing
