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

TEST_CASE("a call of the last averaging that was long on its way keeps nobody out of the next plan") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 30);
  swarm.run_for(seconds(5));
  VirtualMember& slow = swarm.member(4);
  swarm.averaging_time = seconds(60);
  while (swarm.member(1).phase != wire::MemberPhase::averaging) {
    slow.group.reset();
    swarm.run_for(milliseconds(5));
  }
  const GroupId old = swarm.member(1).group->id;
  slow.group.reset();
  swarm.call(slow);
  slow.group.reset();
  slow.next_call = swarm.now + seconds(20);
  for (const int number : {1, 2, 3}) leave(swarm, number);
  CHECK(until_another_plan(swarm, 1, old) < seconds(3));
  slow.phase = wire::MemberPhase::averaging;  // in the old group, when it sent this
  swarm.call(slow);
  slow.phase = wire::MemberPhase::training;
  swarm.call(slow);
  REQUIRE(slow.group);
  CHECK(slow.group->id == swarm.member(1).group->id);
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

namespace {

// The last of five members has the others wait for it, again and again.
struct Staller {
  Staller() {
    for (int i = 1; i <= 5; ++i) swarm.add(i, 12);
    swarm.run_for(seconds(12));
  }
  VirtualMember& member() { return swarm.member(5); }
  // It is in the plan that comes, and does not come to it. `while_waited_for` is called until the others are done.
  template <typename Act>
  void stall(const Act& while_waited_for) {
    while (!member().group || member().phase != wire::MemberPhase::training) swarm.run_for(milliseconds(5));
    const Duration usual = swarm.averaging_time;
    swarm.averaging_time += from_ms(member().group->begin_within_ms);  // the others begin when they have waited for it
    for (const std::size_t before = swarm.decided.size(); swarm.decided.size() == before;) {
      member().group.reset();
      while_waited_for();
      swarm.run_for(milliseconds(5));
    }
    swarm.averaging_time = usual;
  }
  // Its place in the next plan.
  wire::MemberRole seat() {
    while (!swarm.member(1).group) swarm.run_for(milliseconds(5));
    for (const wire::GroupMember& seat : swarm.member(1).group->members) {
      if (seat.endpoint.peer == peer_id(5)) return seat.role;
    }
    return wire::MemberRole::late;
  }
  [[nodiscard]] bool sits_out() { return member().last_reply.notice.find("takes part again") != std::string::npos; }

  Swarm swarm;
};

}  // namespace

TEST_CASE("who falls silent until it is forgotten, while others wait for it, answers for that when it is back") {
  Staller staller;
  Swarm& swarm = staller.swarm;
  int stalls = 0;
  for (; stalls < 8 && !staller.sits_out(); ++stalls) {
    staller.stall([&] { staller.member().alive = false; });
    while (swarm.coordinator->view(swarm.now).swarm_size == 5) swarm.run_for(milliseconds(5));
    staller.member().alive = true;
    staller.member().next_call = swarm.now;
    swarm.run_for(milliseconds(20));
    CHECK(swarm.coordinator->view(swarm.now).less_relied_on == 1);
    if (stalls < 2) CHECK_FALSE(staller.sits_out());  // computers crash
    CHECK(staller.seat() == wire::MemberRole::late);  // until it comes
    for (int i = 0; i < 100 && swarm.decided.back().contributions.size() < 5; ++i) swarm.run_for(milliseconds(50));
  }
  CHECK(staller.sits_out());
}

TEST_CASE("nobody waits again, for some rounds, for one that says it averages and is not seen by the others") {
  Staller staller;
  Swarm& swarm = staller.swarm;
  VirtualMember& member = staller.member();
  int waited = 0;
  for (int plan = 0; plan < 9; ++plan) {
    while (!member.group || member.phase != wire::MemberPhase::training) swarm.run_for(milliseconds(5));
    const bool waits = staller.seat() != wire::MemberRole::late;
    waited += waits ? 1 : 0;
    for (int i = 1; i <= 4; ++i) {
      swarm.complaints[peer_id(i)].clear();
      if (waits) swarm.complaints[peer_id(i)] = {{peer_id(5), wire::Fault::absent}};
    }
    bool has_said_so = false;
    staller.stall([&] {
      const bool begun = swarm.member(1).phase == wire::MemberPhase::averaging;
      if (!begun || std::exchange(has_said_so, true)) return;
      member.phase = wire::MemberPhase::averaging;
      swarm.call(member);
      member.phase = wire::MemberPhase::training;
      member.next_call = swarm.now + seconds(1);
    });
    CHECK(has_said_so);
  }
  CHECK(waited == 1);
  CHECK(swarm.coordinator->view(swarm.now).less_relied_on == 1);
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
