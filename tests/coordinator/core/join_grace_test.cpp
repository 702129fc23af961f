#include "coordinator/core/join_grace.h"

#include <doctest/doctest.h>

#include "shared/run/model_layout.h"
#include "tests/coordinator/core/run_parts.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Newcomers : RunParts {
  Newcomers() { run.rhythm.round = seconds(5); }

  // The rate at which the state takes this long.
  [[nodiscard]] double line_for(Duration download) const {
    return static_cast<double>(wire::state_size(settings.manifest) * sizeof(float)) / to_seconds(download);
  }
  // A round that is planned once its join grace is over.
  void hold_round() {
    Duration longest{};
    for (const auto& [peer, member] : members.all()) longest = std::max(longest, grace.of(member, run));
    now = run.round_began + std::max<Duration>(longest, milliseconds(400));
    for (auto& [peer, member] : members.all()) member.seen = now;  // all call while they wait
    grace.on_planned(now, run, members, longest > Duration{});
    begin_round(state_after(run.canonical, group_id(1)));
  }

  JoinGrace grace{settings};
};

}  // namespace

TEST_CASE("a round is held open for a member that gets the state, and for no other") {
  Newcomers swarm;
  CHECK(swarm.grace.of(swarm.call(1, swarm.loading()), swarm.run) == milliseconds(500));
  CHECK(swarm.grace.of(swarm.call(2, swarm.training()), swarm.run) == Duration{});
  wire::Heartbeat paused = swarm.loading();
  paused.phase = wire::MemberPhase::paused;
  CHECK(swarm.grace.of(swarm.call(3, paused), swarm.run) == Duration{});
  swarm.member(1).standing.waited_for = false;
  CHECK(swarm.grace.of(swarm.member(1), swarm.run) == Duration{});
}

TEST_CASE("rounds are held longer from try to try, then it is others' turn for a while") {
  Newcomers swarm;
  Duration last{};
  for (int i = 0; i < swarm.settings.options.join_grace.rounds_in_a_row; ++i) {
    const Duration held = swarm.grace.of(swarm.call(1, swarm.loading()), swarm.run);
    CHECK(held > last);
    last = held;
    swarm.hold_round();
  }
  CHECK(swarm.grace.of(swarm.call(1, swarm.loading()), swarm.run) == Duration{});
  swarm.now += from_seconds(to_seconds(last) / swarm.settings.options.join_grace.share);
  CHECK(swarm.grace.of(swarm.call(1, swarm.loading()), swarm.run) == Duration{});  // not in the middle of a round
  swarm.begin_round(first_state());
  CHECK(swarm.grace.of(swarm.call(1, swarm.loading()), swarm.run) > last);
}

TEST_CASE("rounds that go on without a member that missed its call are no tries of its") {
  Newcomers swarm;
  (void)swarm.call(1, swarm.loading(), milliseconds(500));
  swarm.hold_round();
  CHECK(swarm.member(1).grace.rounds_held == 1);
  // Its calls are lost for some seconds, right after a restart, and the others' rounds are short.
  for (int i = 0; i < 2 * swarm.settings.options.join_grace.rounds_in_a_row; ++i) {
    swarm.now = swarm.run.round_began + seconds(2);
    swarm.grace.on_planned(swarm.now, swarm.run, swarm.members, false);
    swarm.begin_round(state_after(swarm.run.canonical, group_id(1)));
  }
  CHECK(swarm.member(1).grace.rounds_held == 1);
  CHECK(swarm.grace.of(swarm.call(1, swarm.loading()), swarm.run) == seconds(1));
  CHECK_FALSE(swarm.grace.loads_in_vain(swarm.member(1), swarm.run));
}

TEST_CASE("a member that has the state starts from the beginning when it loses it, and tells how long it took") {
  Newcomers swarm;
  (void)JoinGrace::on_call(swarm.now, swarm.run, swarm.call(1, swarm.loading()));
  swarm.hold_round();
  CHECK(swarm.member(1).grace.rounds_held == 1);
  swarm.now += milliseconds(300);
  // Its tries in the round before are no measure of this state's download.
  const auto took = JoinGrace::on_call(swarm.now, swarm.run, swarm.call(1, swarm.training()));
  REQUIRE(took.has_value());
  CHECK(*took == milliseconds(300));
  CHECK(swarm.member(1).grace.rounds_held == 0);
  CHECK_FALSE(JoinGrace::on_call(swarm.now, swarm.run, swarm.call(1, swarm.training())).has_value());
}

TEST_CASE("a download that takes longer than a usual round's grace is waited for by one round every few minutes") {
  Newcomers swarm;
  const wire::Heartbeat slow = swarm.loading(swarm.line_for(seconds(50)));
  const Duration held = swarm.grace.of(swarm.call(1, slow), swarm.run);
  CHECK(to_seconds(held) == doctest::Approx(75));
  swarm.hold_round();
  (void)swarm.call(1, swarm.training());
  // More than the minute that is saved up is spent: the next of them is another round's, some minutes later.
  const Duration second = swarm.grace.of(swarm.call(2, slow), swarm.run);
  CHECK(second == Duration{});
  CHECK(swarm.grace.loads_in_vain(swarm.member(2), swarm.run));
  CHECK_FALSE(swarm.grace.loads_in_vain(swarm.call(3, swarm.loading()), swarm.run));
  swarm.now += minutes(6);
  swarm.begin_round(first_state());
  CHECK(swarm.grace.of(swarm.call(2, slow), swarm.run) > Duration{});
  CHECK_FALSE(swarm.grace.loads_in_vain(swarm.member(2), swarm.run));
}

TEST_CASE("a line that would take longer than the longest grace is not waited for") {
  Newcomers swarm;
  CHECK(swarm.grace.of(swarm.call(1, swarm.loading(swarm.line_for(minutes(6)))), swarm.run) == Duration{});
}

}  // namespace starling::core::testing
