#include "client/session/round_cycle.h"

#include <doctest/doctest.h>

#include "tests/client/session/session_names.h"

using namespace starling;
using namespace starling::session;

namespace {

wire::GroupInfo group_of(RoundIndex round, std::vector<std::uint8_t> members) {
  wire::GroupInfo group;
  group.run_id = "run";
  group.id.bytes.fill(static_cast<std::uint8_t>(round + 1));
  group.round = round;
  group.state_digest = digest(1);
  for (const std::uint8_t number : members) {
    wire::GroupMember member;
    member.endpoint.peer = peer(number);
    group.members.push_back(member);
  }
  return group;
}

averaging::AveragingOutcome outcome(std::vector<SampleCount> samples) {
  averaging::AveragingOutcome outcome;
  outcome.samples = std::move(samples);
  return outcome;
}

// Plays a round to its end.
void play(RoundCycle& cycle, RoundIndex round, std::vector<SampleCount> samples) {
  cycle.meet({group_of(round, {1, 2, 3}), 0, kStart});
  cycle.begin_averaging();
  cycle.on_averaged(outcome(std::move(samples)));
  cycle.begin_step();
  cycle.finish();
}

}  // namespace

TEST_CASE("a round goes from gathering to its step and gathers again") {
  RoundCycle cycle;
  CHECK(cycle.gathers());
  cycle.meet({group_of(4, {1, 2, 3}), 1, kStart});
  REQUIRE(cycle.meeting() != nullptr);
  CHECK_FALSE(cycle.is_bound());
  CHECK(cycle.begin_averaging().self == 1);
  CHECK(cycle.averages());
  CHECK(cycle.is_busy());
  cycle.on_averaged(outcome({4, 4, 0}));
  CHECK(cycle.is_bound());
  CHECK_FALSE(cycle.is_busy());  // the step has not begun
  cycle.begin_step();
  CHECK(cycle.is_busy());
  const RoundCycle::Stepping done = cycle.finish();
  CHECK(done.meeting.group.round == 4);
  CHECK(done.outcome.samples == std::vector<SampleCount>{4, 4, 0});
  CHECK(cycle.gathers());
}

TEST_CASE("a step that failed waits and keeps the average") {
  RoundCycle cycle;
  cycle.meet({group_of(0, {1, 2}), 0, kStart});
  cycle.begin_averaging();
  cycle.on_averaged(outcome({1, 2}));
  cycle.begin_step();
  cycle.on_step_failed(kStart + std::chrono::seconds(1));
  REQUIRE(cycle.stepping() != nullptr);
  CHECK_FALSE(cycle.stepping()->under_way);
  CHECK(cycle.stepping()->not_before == kStart + std::chrono::seconds(1));
  CHECK(cycle.stepping()->outcome.samples == std::vector<SampleCount>{1, 2});
}

TEST_CASE("the next group follows from the last one without the coordinator") {
  RoundCycle cycle;
  play(cycle, 0, {4, 4, 4});
  const auto next = cycle.successor(1, digest(2), peer(1));
  REQUIRE(next);
  CHECK(next->group.round == 1);
  CHECK(next->group.autonomous);
  CHECK(next->group.members.at(next->self).endpoint.peer == peer(1));
}

TEST_CASE("no group follows where nobody contributed, in another round, for a stranger, or from a lost state") {
  RoundCycle cycle;
  play(cycle, 0, {0, 0, 0});
  CHECK_FALSE(cycle.successor(1, digest(2), peer(1)));
  play(cycle, 1, {4, 4, 4});
  CHECK_FALSE(cycle.successor(3, digest(2), peer(1)));
  CHECK_FALSE(cycle.successor(2, digest(2), peer(9)));
  CHECK(cycle.successor(2, digest(2), peer(1)));
  cycle.forget_last_group();
  CHECK_FALSE(cycle.successor(2, digest(2), peer(1)));
}

TEST_CASE("the group that was left without a result is not joined again, and none follows from it") {
  RoundCycle cycle;
  play(cycle, 0, {4, 4, 4});
  const wire::GroupInfo group = group_of(1, {1, 2, 3});
  cycle.meet({group, 0, kStart});
  cycle.begin_averaging();
  cycle.on_left_group();
  CHECK(cycle.gathers());
  CHECK_FALSE(cycle.may_join(group.id));
  CHECK(cycle.may_join(group_of(2, {1}).id));
  CHECK_FALSE(cycle.successor(1, digest(2), peer(1)));
}

TEST_CASE("an average is given up with its state") {
  RoundCycle cycle;
  cycle.meet({group_of(0, {1, 2}), 0, kStart});
  cycle.begin_averaging();
  cycle.on_averaged(outcome({1, 2}));
  cycle.call_off();
  CHECK(cycle.gathers());
}
