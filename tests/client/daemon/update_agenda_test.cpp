#include "client/daemon/update_agenda.h"

#include <doctest/doctest.h>

#include <random>

using namespace starling;
using namespace starling::daemon;
using namespace std::chrono_literals;

namespace {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  bool one_in(int n) { return random_() % static_cast<std::uint64_t>(n) == 0; }
  Duration within(Duration most) { return Duration(static_cast<Duration::rep>(random_() % (most.count() + 1))); }

 private:
  std::mt19937_64 random_;
};

UpdateRules any_rules(Chance& chance) {
  return {!chance.one_in(3), !chance.one_in(2), !chance.one_in(3), !chance.one_in(3)};
}

// Acts as the keeper would, and sets the times at which it has to come back.
void do_what_is_due(UpdateAgenda& agenda, TimePoint now, const UpdateRules& rules, Chance& chance) {
  const UpdateAgenda::Due due = agenda.due(now, rules);
  if (due.end_trial) agenda.well_at = kNever;
  if (due.check) {
    agenda.next_check = now + 1min + chance.within(24h);
    agenda.found = chance.one_in(3);
  }
  if (!agenda.due(now, rules).install) return;
  if (chance.one_in(2)) agenda.waiting = true;
  agenda.next_try = now + 1h;
}

}  // namespace

TEST_CASE("a daemon that has shown that it works and looks for no updates sleeps for good") {
  UpdateAgenda agenda;
  agenda.can_install = true;
  TimePoint now = TimePoint() + 1h;
  agenda.well_at = now + 60s;
  CHECK(agenda.alarm(now, {}) == now + 60s);
  now += 60s;
  CHECK(agenda.due(now, {}).end_trial);
  agenda.well_at = kNever;
  CHECK(agenda.alarm(now, {}) == kNever);
}

TEST_CASE("what the rules forbid sets no alarm, however long it has been due") {
  UpdateAgenda agenda;
  agenda.has_source = agenda.can_install = agenda.found = true;
  const TimePoint now = TimePoint() + 1h;
  agenda.next_check = agenda.next_try = now - 10min;
  CHECK(agenda.alarm(now, {.network = false}) == kNever);
  CHECK_FALSE(agenda.due(now, {.network = false}).any());
  agenda.next_check = now + 10min;
  CHECK(agenda.alarm(now, {.check = false, .network = true}) == kNever);
  CHECK(agenda.alarm(now, {.network = true}) == now + 10min);
}

TEST_CASE("the alarm is never in the past, wakes nobody for nothing, and misses nothing") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Chance chance(seed);
    UpdateAgenda agenda;
    agenda.has_source = !chance.one_in(4);
    agenda.can_install = !chance.one_in(3);
    TimePoint now = TimePoint() + 1h;
    agenda.well_at = now + 60s;
    if (agenda.has_source) agenda.next_check = now + chance.within(2h);
    UpdateRules rules = any_rules(chance);
    for (int step = 0; step < 30; ++step) {
      do_what_is_due(agenda, now, rules, chance);
      const TimePoint alarm = agenda.alarm(now, rules);
      REQUIRE(alarm > now);
      if (alarm != kNever) {
        REQUIRE(agenda.due(alarm, rules).any());
        REQUIRE_FALSE(agenda.due(now + chance.within(alarm - now - Duration(1)), rules).any());
      }
      if (chance.one_in(2) || alarm == kNever) {  // something happens before the alarm
        now += alarm == kNever ? chance.within(24h) : chance.within(alarm - now);
        rules = any_rules(chance);
        agenda.asked_to_install = chance.one_in(4);
      } else {
        now = alarm;
      }
    }
  }
}
