// Plans that cannot come to a result any more: how soon there is another.
#include <doctest/doctest.h>

#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Runs until all of these average in one group; returns its id.
GroupId all_average(Swarm& swarm, const std::vector<int>& members) {
  swarm.averaging_time = seconds(60);
  for (const int number : members) {
    while (swarm.member(number).phase != wire::MemberPhase::averaging) swarm.run_for(milliseconds(5));
  }
  swarm.run_for(milliseconds(50));  // the coordinator has heard of it
  return swarm.member(members.front()).group->id;
}

// It has left without a result, with its samples.
void leave(Swarm& swarm, int number) {
  swarm.member(number).train_on();
  swarm.member(number).next_call = swarm.now;
}

Duration until_another_plan(Swarm& swarm, int number, const GroupId& old) {
  swarm.averaging_time = milliseconds(80);
  const TimePoint from = swarm.now;
  while (swarm.now < from + seconds(60)) {
    swarm.run_for(milliseconds(5));
    if (swarm.member(number).group && swarm.member(number).group->id != old) break;
  }
  return swarm.now - from;
}

}  // namespace

TEST_CASE("when half of a group is back in vain, the others are not waited for") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 30);
  swarm.run_for(seconds(5));
  const GroupId old = all_average(swarm, {1, 2, 3, 4});
  for (const int number : {1, 2, 3}) leave(swarm, number);
  swarm.run_for(milliseconds(20));
  CHECK(until_another_plan(swarm, 1, old) < seconds(3));
}

TEST_CASE("when less than half of a group is back in vain, the others go on") {
  Swarm swarm;
  for (int i = 1; i <= 5; ++i) swarm.add(i, 30);
  swarm.run_for(seconds(5));
  const GroupId old = all_average(swarm, {1, 2, 3, 4, 5});
  for (const int number : {1, 2}) leave(swarm, number);
  swarm.run_for(seconds(5));
  for (const int number : {3, 4, 5}) {
    REQUIRE(swarm.member(number).group);
    CHECK(swarm.member(number).group->id == old);
  }
  CHECK_FALSE(swarm.member(1).group);
}

TEST_CASE("members of a plan that fall silent are not waited for until they are forgotten") {
  Swarm swarm;
  for (int i = 1; i <= 5; ++i) swarm.add(i, 30);
  swarm.run_for(seconds(5));
  const GroupId old = all_average(swarm, {1, 2, 3, 4, 5});
  for (const int number : {1, 2}) swarm.member(number).alive = false;
  leave(swarm, 3);
  leave(swarm, 4);
  swarm.member(5).alive = false;
  const Duration waited = until_another_plan(swarm, 3, old);
  CHECK(waited < seconds(12));  // a quorum is not there: most of the group may have gone on together
}

TEST_CASE("who lets others wait and calls on pays for their time, and who falls silent may have lost an answer") {
  Swarm swarm;
  for (int i = 1; i <= 5; ++i) swarm.add(i, 30);
  swarm.run_for(seconds(5));
  VirtualMember& absent = swarm.member(5);
  bool loses_answers = false;
  SUBCASE("it calls on") {}
  SUBCASE("it falls silent") { loses_answers = true; }
  bool comes_late = false;
  SUBCASE("it comes too late") { comes_late = true; }
  const auto is_called = [&] { return absent.group && absent.phase == wire::MemberPhase::training; };
  while (!is_called()) swarm.run_for(milliseconds(5));
  swarm.averaging_time = milliseconds(4500);  // the others begin when they have waited for it
  const std::size_t before = swarm.decided.size();
  const auto stay_away_until = [&](const auto& is_time) {
    while (!is_time()) {
      absent.group.reset();
      swarm.run_for(milliseconds(5));
    }
  };
  stay_away_until([&] { return swarm.member(1).phase == wire::MemberPhase::averaging; });
  const TimePoint until = swarm.now + seconds(4);
  stay_away_until([&] { return swarm.now >= until; });
  swarm.call(absent);
  if (loses_answers) absent.next_call = swarm.now + seconds(5);
  if (comes_late) absent.next_call = swarm.now + milliseconds(600);  // after the others are done
  stay_away_until([&] { return swarm.decided.size() > before; });
  const int calls = absent.calls;
  if (comes_late) {
    absent.phase = wire::MemberPhase::averaging;
    swarm.call(absent);
    absent.phase = wire::MemberPhase::training;
  }
  stay_away_until([&] { return absent.calls > calls; });
  CHECK(swarm.coordinator->view(swarm.now).less_relied_on == 1);
  CHECK(absent.last_reply.notice.empty() == (loses_answers || comes_late));
}

TEST_CASE("who is in a result was there, although its word of that was lost") {
  Swarm swarm;
  for (int i = 1; i <= 5; ++i) swarm.add(i, 30);
  swarm.run_for(seconds(5));
  swarm.averaging_time = milliseconds(4500);
  VirtualMember& unheard = swarm.member(5);
  const std::size_t before = swarm.decided.size();
  while (swarm.decided.size() < before + 3) {
    if (unheard.phase == wire::MemberPhase::averaging) unheard.next_call = swarm.now + seconds(5);
    swarm.run_for(milliseconds(5));
  }
  CHECK(swarm.decided.back().contributions.size() == 5);
  CHECK(swarm.coordinator->view(swarm.now).less_relied_on == 0);
}

}  // namespace starling::core::testing
