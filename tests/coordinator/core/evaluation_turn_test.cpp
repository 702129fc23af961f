#include "coordinator/core/evaluation_turn.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/coordinator/core/small_run.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A swarm of four that stays at round 5 unless a test moves it on.
struct Turns {
  EvaluationTurn turn{std::nullopt};
  CoordinatorOptions options;
  TimePoint now{seconds(100)};
  EvaluationTurn::Situation situation{.round = 5, .round_time = {}, .planned = false, .running = true};
  std::size_t members = 4;

  // Each has its own account, unless the test says otherwise.
  std::optional<RoundIndex> ask(int peer, AccountId account = 0) {
    situation.accounts = members;
    return turn.ask(now, {peer_id(peer), account > 0 ? account : peer, ""}, situation, options);
  }
  void tell(int peer, RoundIndex round, double bits, std::int64_t bytes = 1000) {
    turn.answered(now, peer_id(peer), {round, bits, bytes});
  }
  std::optional<EvaluationTurn::Verdict> conclude() {
    situation.accounts = members;
    return turn.conclude(now, situation, options);
  }
  // All accounts call, one after the other. Returns those that are asked.
  std::set<int> ask_all() {
    std::set<int> asked;
    for (int peer = 1; peer <= static_cast<int>(members); ++peer) {
      if (ask(peer)) asked.insert(peer);
    }
    return asked;
  }
  void pause() { now += options.evaluation.interval; }
};

}  // namespace

TEST_CASE("two measure the same state, and are believed when they agree") {
  Turns f;
  CHECK(f.ask(1) == 5);
  CHECK(f.ask(2) == 5);
  CHECK_FALSE(f.ask(3).has_value());
  CHECK(f.ask(1) == 5);  // its reply may be lost
  f.tell(3, 5, 2.0);     // was not asked
  f.tell(1, 4, 2.0);     // was not asked for that
  f.tell(1, 5, 2.0);
  CHECK_FALSE(f.ask(1).has_value());
  CHECK_FALSE(f.conclude().has_value());
  f.tell(2, 5, 2.001);  // on another processor
  f.tell(2, 5, 9.0);    // a second figure of one member is ignored
  const auto verdict = f.conclude();
  REQUIRE(verdict.has_value());
  CHECK(verdict->round == 5);
  CHECK(verdict->believed.size() == 2);
  CHECK(verdict->outvoted.empty());
  f.situation.round = 6;
  CHECK_FALSE(f.ask(3).has_value());  // not all the time
  f.pause();
  CHECK(f.ask(3) == 6);
}

TEST_CASE("the computers of one account are asked for one figure together") {
  Turns f;
  CHECK(f.ask(1, 7) == 5);
  CHECK_FALSE(f.ask(2, 7).has_value());
  CHECK(f.ask(3, 8) == 5);
  f.tell(1, 5, 0, 0);  // it cannot
  CHECK(f.ask(2, 7) == 5);
  f.tell(2, 5, 2.0);
  f.tell(3, 5, 2.0);
  CHECK(f.conclude()->believed.size() == 2);
}

TEST_CASE("accounts are counted as unable once, so that one cannot end a measurement for all") {
  Turns f;
  f.members = 3;
  for (const int computer : {1, 2, 3}) {
    CHECK(f.ask(computer, 7) == 5);
    f.tell(computer, 5, 0, 0);
  }
  CHECK(f.ask(4, 8) == 5);
  f.tell(4, 5, 2.0);
  CHECK_FALSE(f.conclude().has_value());  // another account may still measure
}

TEST_CASE("other processors and cards agree, liars within what nobody sees only") {
  const auto believed = [](double one, double other, std::int64_t bytes) {
    Turns f;
    f.members = 2;
    f.ask(1);
    f.ask(2);
    f.tell(1, 5, one);
    f.tell(2, 5, other, bytes);
    return f.conclude()->believed.size();
  };
  CHECK(believed(2.0, 2.0, 1000) == 2);
  CHECK(believed(2.0, 2.01, 1000) == 2);       // half a percent: bfloat16
  CHECK(believed(0.0002, 0.0005, 1000) == 2);  // for a model that is nearly always right
  CHECK(believed(2.0, 2.05, 1000) == 0);
  CHECK(believed(2.0, 2.0, 999) == 0);  // on other data
}

TEST_CASE("a third member is asked when two differ, and who is outvoted is named") {
  Turns f;
  f.ask(1);
  f.ask(2);
  f.tell(1, 5, 2.0);
  f.tell(2, 5, 0.5);
  CHECK_FALSE(f.conclude().has_value());
  CHECK(f.ask(3) == 5);
  f.tell(3, 5, 2.0);
  const auto verdict = f.conclude();
  REQUIRE(verdict.has_value());
  CHECK(verdict->believed.size() == 2);
  CHECK(verdict->outvoted == std::vector<PeerId>{peer_id(2)});
}

TEST_CASE("where the state is gone, those who differ measure a later one, with a third") {
  Turns f;
  f.ask(1);
  f.ask(2);
  f.tell(1, 5, 2.0);
  f.tell(2, 5, 0.5);
  f.situation.round = 6;
  const auto open = f.conclude();
  REQUIRE(open.has_value());
  CHECK(open->believed.empty());
  CHECK(open->outvoted.empty());
  f.pause();
  CHECK(f.ask(3) == 6);
  CHECK_FALSE(f.ask(4).has_value());  // the other places are kept
  CHECK(f.ask(2) == 6);
  CHECK(f.ask(1) == 6);
  f.tell(1, 6, 1.9);
  f.tell(2, 6, 0.5);
  f.tell(3, 6, 1.9);
  const auto verdict = f.conclude();
  REQUIRE(verdict.has_value());
  CHECK(verdict->believed.size() == 2);
  CHECK(verdict->outvoted == std::vector<PeerId>{peer_id(2)});
}

TEST_CASE("three who all differ are nobody's proof, and others are asked the next time") {
  Turns f;
  for (const int peer : {1, 2}) f.ask(peer);
  f.tell(1, 5, 1.0);
  f.tell(2, 5, 2.0);
  (void)f.conclude();
  f.ask(3);
  f.tell(3, 5, 3.0);
  const auto verdict = f.conclude();
  REQUIRE(verdict.has_value());
  CHECK(verdict->believed.empty());
  CHECK(verdict->outvoted.empty());
  f.situation.round = 6;
  f.pause();
  CHECK(f.ask(4) == 6);
}

TEST_CASE("a member alone is believed, by a single figure; of two that differ, neither is") {
  Turns f;
  f.members = 1;
  CHECK(f.ask(1) == 5);
  f.tell(1, 5, 2.0);
  CHECK(f.conclude()->believed.size() == 1);
  f.members = 2;
  f.situation.round = 6;
  f.pause();
  f.ask(1);
  f.ask(2);
  f.tell(1, 6, 2.0);
  f.tell(2, 6, 1.0);
  CHECK(f.conclude()->believed.empty());
  f.situation.round = 7;  // one of them alone proves nothing
  f.pause();
  f.ask(1);
  f.tell(1, 7, 2.0);
  f.situation.round = 8;
  CHECK(f.conclude()->believed.empty());
  f.turn.forget_gone([](const PeerId& peer) { return peer == peer_id(1); });
  f.members = 1;  // the other is gone
  f.pause();
  f.ask(1);
  f.tell(1, 8, 2.0);
  CHECK(f.conclude()->believed.size() == 1);
}

TEST_CASE("a running swarm is told of a state some seconds ahead, more where that was too late") {
  Turns f;
  f.situation.planned = true;
  CHECK(f.ask(1) == 6);  // nothing is known of its rounds, except that this one is over soon
  f.turn.on_call(f.now, peer_id(1), 7);
  f.situation.round = 7;
  CHECK(f.conclude()->believed.empty());
  f.pause();
  f.situation.round_time = milliseconds(100);
  CHECK(f.ask(1) == 7 + 40);
  f.situation.round = 20;
  CHECK_FALSE(f.conclude().has_value());
  CHECK(f.ask(2) == 47);
  f.situation.round_time = std::chrono::hours(1);
  f.situation.round = 60;
  f.turn.on_call(f.now, peer_id(1), 60);
  f.turn.on_call(f.now, peer_id(2), 60);
  CHECK(f.conclude().has_value());
  f.pause();
  CHECK(f.ask(1) == 61);
}

TEST_CASE("of many accounts, more than a third have to agree; so many are asked, and a third that lies is outvoted") {
  Turns f;
  f.members = 16;
  const std::set<int> asked = f.ask_all();
  REQUIRE(asked.size() == 6);
  int liars = 5;
  for (const int peer : asked) f.tell(peer, 5, liars-- > 0 ? 0.5 : 2.0);
  CHECK_FALSE(f.conclude().has_value());
  f.now += seconds(2);  // by now whoever calls is asked
  for (const int peer : f.ask_all()) f.tell(peer, 5, 2.0);
  const auto verdict = f.conclude();
  REQUIRE(verdict.has_value());
  CHECK(verdict->believed.size() == 6);
  for (const EvaluationFigure& figure : verdict->believed) CHECK(figure.bits_per_byte == 2.0);
  CHECK(verdict->outvoted.size() == 5);
}

TEST_CASE("those who were asked among many do not decide among the few that are left") {
  Turns f;
  f.members = 16;
  f.ask(1);
  f.now += seconds(2);  // from now on anybody that calls is asked
  const std::set<int> asked = f.ask_all();
  REQUIRE(asked.size() == 6);
  int told = 0;
  for (const int peer : asked) f.tell(peer, 5, ++told <= 5 ? 0.5 : 2.0);
  f.members = 5;  // the others' accounts are on probation now
  const auto verdict = f.conclude();
  REQUIRE(verdict.has_value());
  CHECK(verdict->believed.empty());
  CHECK(verdict->outvoted.empty());
}

TEST_CASE("fewer that agree are not believed, unless no more can be had for many turns") {
  Turns f;
  f.members = 16;
  for (int turn = 0; turn < 7; ++turn) {
    const std::set<int> asked = f.ask_all();
    REQUIRE(asked.size() >= 6);
    int answers = 5;
    for (const int peer : asked) {
      if (answers-- > 0) f.tell(peer, f.situation.round, 2.0);
    }
    ++f.situation.round;
    for (const int peer : asked) f.turn.on_call(f.now, peer_id(peer), f.situation.round);
    const auto verdict = f.conclude();
    REQUIRE(verdict.has_value());
    CHECK(verdict->believed.size() == (turn < 6 ? 0 : 5));
    f.pause();
  }
}

TEST_CASE("those who measure are drawn by account: calling first, and again and again, helps little") {
  int first = 0;
  constexpr int kTurns = 100;
  Turns f;
  f.members = 60;
  f.situation.round_time = seconds(10);
  for (int turn = 0; turn < kTurns; ++turn) {
    first += f.ask(1) ? 1 : 0;
    for (const int peer : f.ask_all()) f.tell(peer, f.situation.round + 1, 2.0);
    ++f.situation.round;
    f.pause();
    for (const int peer : f.ask_all()) f.tell(peer, f.situation.round, 2.0);
    REQUIRE(f.conclude().has_value());
    ++f.situation.round;
    f.now += std::chrono::minutes(10);
  }
  CHECK(first > 5);
  CHECK(first < 40);  // a fifth, where twice as many are drawn as there are places
}

TEST_CASE("measuring takes a fiftieth of anybody's time at most") {
  Turns f;
  f.members = 1;
  f.ask(1);
  f.now += seconds(3);
  f.tell(1, 5, 2.0);
  CHECK(f.conclude().has_value());
  f.situation.round = 9;
  f.now += seconds(149);
  CHECK_FALSE(f.ask(1).has_value());
  f.now += seconds(1);
  CHECK(f.ask(1) == 9);
}

TEST_CASE("others are asked instead of those who are gone, or can not measure; for the rest nobody waits for ever") {
  Turns f;
  f.ask(1);
  f.ask(2);
  f.turn.forget_gone([](const PeerId& peer) { return peer != peer_id(2); });
  CHECK(f.ask(3) == 5);
  f.tell(3, 5, 0, 0);
  CHECK_FALSE(f.ask(3).has_value());
  CHECK(f.ask(4) == 5);
  f.tell(4, 5, 2.0);
  CHECK_FALSE(f.conclude().has_value());
  f.now += f.options.evaluation.timeout;
  const auto verdict = f.conclude();
  REQUIRE(verdict.has_value());
  CHECK(verdict->believed.size() == 1);
}

TEST_CASE("a run that stops gets its last figure at once, and once") {
  Turns f;
  f.situation.round_time = seconds(10);
  CHECK(f.ask(1) == 6);
  f.situation.running = false;
  CHECK_FALSE(f.conclude().has_value());
  CHECK(f.ask(1) == 5);
  CHECK(f.ask(2) == 5);
  f.tell(1, 5, 2.0);
  f.tell(2, 5, 2.0);
  CHECK(f.conclude()->believed.size() == 2);
  f.now += std::chrono::hours(1);
  CHECK_FALSE(f.ask(1).has_value());
}

}  // namespace starling::core::testing
