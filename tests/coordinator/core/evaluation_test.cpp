#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::map<RoundIndex, std::set<PeerId>> measured(const Swarm& swarm) {
  std::map<RoundIndex, std::set<PeerId>> by_round;
  for (const EvaluationStored& figure : swarm.evaluations) by_round[figure.round].insert(figure.peer);
  return by_round;
}

std::size_t confirmed(const Swarm& swarm) {
  const auto by_round = measured(swarm);
  return static_cast<std::size_t>(
      std::count_if(by_round.begin(), by_round.end(), [](const auto& entry) { return entry.second.size() > 1; }));
}

}  // namespace

TEST_CASE("two members measure the held-out loss of one state, at the start, now and then, and at the end") {
  wire::RunManifest manifest = small_manifest();
  manifest.rounds_max = 12;
  Swarm swarm(manifest);
  for (int i = 1; i <= 4; ++i) swarm.add(i, 10);
  swarm.run_for(seconds(40));
  REQUIRE(swarm.state == wire::RunState::complete);
  const auto by_round = measured(swarm);
  REQUIRE(by_round.size() >= 3);
  CHECK(by_round.begin()->first == 0);
  CHECK(by_round.rbegin()->first == 12);
  CHECK(confirmed(swarm) == by_round.size());
}

TEST_CASE("the loss is measured and agreed on where ten rounds pass in a second, and they pass as fast") {
  wire::RunManifest manifest = small_manifest();
  manifest.target_batch_size = 4;
  Swarm swarm(manifest);
  swarm.averaging_time = milliseconds(20);
  for (int i = 1; i <= 4; ++i) swarm.add(i, 40).evaluation_takes = milliseconds(15);
  swarm.run_for(seconds(60));
  CHECK(swarm.decided.size() > 300);
  CHECK(measured(swarm).size() >= 4);
  CHECK(confirmed(swarm) == measured(swarm).size());
}

TEST_CASE("a round waits for those that measure its state, and the others compute meanwhile") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 20).evaluation_takes = milliseconds(400);
  swarm.run_for(seconds(100));
  CHECK(confirmed(swarm) >= 4);
  CHECK(swarm.decided.size() > 90);
  for (const RoundDecided& round : swarm.decided) CHECK(round.contributions.size() == 4);
}

TEST_CASE("… but not for long: the others go on without those that take minutes, or never answer") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 20).evaluation_takes = std::chrono::hours(1);
  swarm.run_for(seconds(60));
  CHECK(swarm.decided.size() > 28);  // two of four, except in the first ten seconds
  CHECK(swarm.evaluations.empty());
}

TEST_CASE("a round waits for nobody who dies while it measures the state") {
  Swarm swarm;
  for (int i = 1; i <= 6; ++i) swarm.add(i, 10).evaluation_takes = milliseconds(400);
  swarm.run_for(seconds(30));
  const auto evaluator = [&]() -> VirtualMember* {
    for (int i = 1; i <= 6; ++i) {
      if (swarm.member(i).phase == wire::MemberPhase::evaluating) return &swarm.member(i);
    }
    return nullptr;
  };
  while (evaluator() == nullptr) swarm.run_for(milliseconds(5));
  evaluator()->alive = false;
  const std::size_t before = swarm.decided.size();
  const TimePoint since = swarm.now;
  while (swarm.decided.size() < before + 2) swarm.run_for(milliseconds(5));
  CHECK(swarm.now - since < seconds(4));
}

TEST_CASE("a volunteer that lies about the loss is outvoted, and relied on less for it") {
  wire::RunManifest manifest = small_manifest();
  manifest.target_batch_size = 200;
  Swarm swarm(manifest);
  for (int i = 1; i <= 4; ++i) swarm.add(i);
  swarm.member(2).bits_per_byte = 0.5;
  bool told = false;
  for (int second = 0; second < 120; ++second) {
    swarm.run_for(seconds(1));
    told = told || !swarm.member(2).last_reply.notice.empty();
  }
  CHECK(told);
  CHECK(confirmed(swarm) >= 3);
  for (const EvaluationStored& figure : swarm.evaluations) CHECK(figure.bits_per_byte == 4.5);
  for (const int honest : {1, 3, 4}) CHECK(swarm.member(honest).last_reply.notice.empty());
}

TEST_CASE("a volunteer alone has its curve, and each figure is marked as its word alone") {
  Swarm swarm;
  swarm.add(1, 40);
  swarm.run_for(seconds(30));
  CHECK(measured(swarm).size() >= 3);
  CHECK(confirmed(swarm) == 0);
}

TEST_CASE("an evaluator dies before it reports: another is asked for the same state") {
  wire::RunManifest manifest = small_manifest();
  manifest.target_batch_size = 6000;
  Swarm swarm(manifest);
  for (int i = 1; i <= 3; ++i) swarm.add(i).evaluation_takes = seconds(5);
  swarm.run_for(seconds(2));
  int alive = 0;
  for (int i = 1; i <= 3; ++i) {
    VirtualMember& member = swarm.member(i);
    if (member.phase == wire::MemberPhase::evaluating && ++alive == 1) member.alive = false;
  }
  REQUIRE(alive == 2);
  swarm.run_for(seconds(60));
  CHECK(swarm.decided.empty());
  CHECK(swarm.evaluations.size() == 2);
  CHECK(confirmed(swarm) == 1);
}

TEST_CASE("a coordinator that is started between two reports asks anew, and nothing is stored that is not agreed") {
  Swarm swarm;
  swarm.state = wire::RunState::paused;
  swarm.coordinator->set_state(wire::RunState::paused);
  swarm.add(1).evaluation_takes = seconds(1);
  swarm.add(2).evaluation_takes = seconds(4);
  swarm.run_for(seconds(3));
  CHECK(swarm.evaluations.empty());
  swarm.restart_coordinator();
  swarm.run_for(seconds(10));
  CHECK(swarm.evaluations.size() == 2);
  CHECK(confirmed(swarm) == 1);
}

}  // namespace starling::core::testing
