// The state that a run begins with: the one that its manifest names.
#include <doctest/doctest.h>

#include <algorithm>

#include "shared/protocol/heartbeat.h"
#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kStranger = 9;

Digest another_state() {
  Digest digest;
  digest.bytes.fill(9);
  return digest;
}

// A member that always says that it holds another state, and is dialable.
wire::HeartbeatReply claim(Swarm& swarm, RoundIndex round) {
  wire::Heartbeat beat;
  beat.run_id = "test";
  beat.phase = wire::MemberPhase::training;
  beat.state_round = round;
  beat.state_digest = another_state();
  beat.samples_per_s = 1000;
  beat.samples_this_round = 50;
  beat.listen_port = 4000;
  const MemberIdentity who{peer_id(kStranger), *OpenHosts().account_of(peer_id(kStranger)), "192.0.2.9"};
  return swarm.coordinator->on_heartbeat(swarm.now, swarm.wall, who, beat).reply;
}

void claim_for(Swarm& swarm, RoundIndex round, Duration time) {
  for (Duration passed{}; passed < time; passed += milliseconds(500)) {
    const wire::HeartbeatReply reply = claim(swarm, round);
    if (reply.round == 0) CHECK(reply.state_digest == first_state());
    CHECK_FALSE(reply.group.has_value());
    swarm.run_for(milliseconds(500));
  }
}

bool names(const std::vector<wire::Endpoint>& donors, int number) {
  return std::any_of(donors.begin(), donors.end(), [&](const auto& donor) { return donor.peer == peer_id(number); });
}

}  // namespace

TEST_CASE(
    "a run begins with the state that its manifest names, whoever calls first, and whoever holds another is no donor") {
  Swarm swarm;
  const wire::HeartbeatReply first = claim(swarm, 0);
  CHECK(first.round == 0);
  CHECK(first.state_digest == first_state());
  CHECK(first.donors.empty());
  CHECK(swarm.coordinator->view(swarm.now).ready == 0);
  CHECK(swarm.call(swarm.add(1)).reply.state_digest == first_state());
  VirtualMember& odd = swarm.add(2);
  odd.state.bytes.fill(7);
  const auto second = swarm.call(odd);
  CHECK(second.reply.state_digest == first_state());
  CHECK(names(second.reply.donors, 1));
  CHECK_FALSE(names(second.reply.donors, kStranger));
}

TEST_CASE("a stranger that is alone for long leads a run nowhere, whatever round it claims to hold") {
  for (const RoundIndex round : {RoundIndex{0}, RoundIndex{7}, RoundIndex{999'999}}) {
    CAPTURE(round);
    Swarm swarm;
    claim_for(swarm, round, seconds(90));
    CHECK(swarm.adopted.empty());
    CHECK(swarm.coordinator->view(swarm.now).round == 0);
    for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
    claim_for(swarm, round, seconds(5));
    REQUIRE_FALSE(swarm.decided.empty());
    CHECK(swarm.decided.front().round == 0);
    CHECK(swarm.decided.front().state_digest == state_after(first_state(), swarm.decided.front().group));
    CHECK(swarm.ledger.count({0, peer_id(kStranger)}) == 0);
    CHECK(swarm.ledger.count({0, peer_id(1)}) == 1);
  }
}

TEST_CASE("a coordinator that starts again before any round begins with the same state") {
  Swarm swarm;
  claim_for(swarm, 0, seconds(2));
  swarm.restart_coordinator();
  claim_for(swarm, 0, seconds(20));
  swarm.add(1, 40);
  swarm.run_for(seconds(5));
  REQUIRE_FALSE(swarm.decided.empty());
  CHECK(swarm.decided.front().state_digest == state_after(first_state(), swarm.decided.front().group));
}

TEST_CASE("of a run whose manifest names no first state, rounds that are past go on from what the store knows") {
  wire::RunManifest manifest = small_manifest();
  manifest.initial_state_digest = {};
  Swarm swarm(manifest, running_run(10, first_state()));
  swarm.add(1).state_round = 10;
  CHECK(swarm.call(swarm.member(1)).reply.state_digest == first_state());
  swarm.call(swarm.member(1));  // it trains by now
  CHECK(swarm.coordinator->view(swarm.now).ready == 1);
}

}  // namespace starling::core::testing
