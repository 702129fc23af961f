#include "client/session/draws.h"

#include <doctest/doctest.h>

#include "tests/client/session/session_fixture.h"

using namespace starling;
using namespace starling::session;

namespace {

// A session whose samples are leased.
struct Leased : Fixture {
  Leased() : Fixture({0, digest(1), {}}, false, true) {}
  wire::HeartbeatReply dealt(RoundIndex round, std::vector<wire::SampleLease> leases) const {
    wire::HeartbeatReply told = reply(round, digest(static_cast<std::uint8_t>(round + 1)));
    told.leases = std::move(leases);
    return told;
  }
};

}  // namespace

TEST_CASE("draws go through the leases by number, and no number twice") {
  Draws draws;
  draws.hold({{1, 0, 40, 6, 3}, {7, 0, 0, 4, 4}});
  CHECK(draws.left(0) == 10);
  CHECK(draws.begin_batch(0, 4)->first == 40);
  CHECK(draws.begin_batch(0, 4)->first == 40);  // no end of it has been reported
  draws.on_batch();
  CHECK(draws.begin_batch(0, 4)->count == 2);
  draws.on_batch();
  CHECK(draws.begin_batch(0, 4)->first == 0);
  CHECK(draws.first() == 1);
  draws.begin_round();  // the other one's end is for others to report
  draws.begin_batch(1, 4);
  draws.on_batch();
  CHECK(draws.first() == 7);
  CHECK(draws.next() == 11);
  CHECK_FALSE(draws.begin_batch(1, 4).has_value());
}

TEST_CASE("nothing is drawn from a lease that is over, nor across a gap into the same gradient") {
  Draws draws;
  draws.hold({{1, 0, 40, 4, 3}, {9, 0, 0, 4, 4}});
  CHECK(draws.begin_batch(4, 4)->first == 0);
  CHECK(draws.begin_batch(3, 4)->first == 40);
  draws.on_batch();
  CHECK_FALSE(draws.begin_batch(3, 4).has_value());
  draws.begin_round();
  CHECK(draws.begin_batch(3, 4)->first == 0);
}

TEST_CASE("a batch that can not be used is halved until the sample that spoils it is alone, and the others are drawn") {
  constexpr SampleCount kSpoils = 11;
  Draws draws;
  draws.hold({{1, 0, 100, 40, 3}});
  int batches = 0;
  std::vector<SampleCount> told;
  SampleCount counted = 0;
  for (; draws.next() <= 40; ++batches) {
    const auto samples = draws.begin_batch(0, 8);
    REQUIRE(samples.has_value());
    CHECK(samples->first == 99 + draws.next());
    if (draws.next() <= kSpoils && kSpoils < draws.next() + samples->count) {
      CHECK(draws.on_unusable() == (samples->count > 1));
      continue;
    }
    const Draws::Passed passed = draws.on_batch();
    told.insert(told.end(), passed.draws.begin(), passed.draws.end());
    counted += passed.counted;
  }
  CHECK(told == std::vector<SampleCount>{kSpoils});
  CHECK(counted == 1);  // its gradient goes on behind it
  CHECK(batches == 9);  // 5, and a binary search through one of 8
}

TEST_CASE("what is passed over belongs in a gradient that goes on behind it, and is certain only then") {
  Draws draws;
  draws.hold({{1, 0, 0, 20, 3}});
  const auto try_one = [&](RoundIndex round) {
    REQUIRE(draws.begin_batch(round, 1).has_value());
    CHECK_FALSE(draws.on_unusable());
  };
  try_one(0);
  try_one(0);
  CHECK(draws.passed() == 2);
  CHECK(draws.begin_batch(0, 4)->first == 2);
  Draws::Passed passed = draws.on_batch();
  CHECK(passed.draws == std::vector<SampleCount>{1, 2});
  CHECK(passed.counted == 0);  // the gradient begins behind them
  CHECK(draws.first() == 3);
  try_one(0);
  draws.look_ahead();  // nothing comes behind it
  CHECK(draws.begin_batch(1, 4)->first == 7);
  passed = draws.on_batch();
  CHECK(passed.draws == std::vector<SampleCount>{7});
  CHECK(passed.counted == 0);
  draws.look_back();
  CHECK_FALSE(draws.begin_batch(0, 4).has_value());  // the next samples are behind another gradient's
}

TEST_CASE("while a gradient is averaged the next one takes draws, and the first then grows no more") {
  Draws draws;
  draws.hold({{1, 0, 0, 20, 3}});
  draws.begin_batch(0, 4);
  draws.on_batch();
  draws.look_ahead();
  CHECK_FALSE(draws.grows());
  CHECK(draws.begin_batch(1, 4)->first == 4);
  draws.on_batch();
  CHECK(draws.first() == 1);
  draws.look_back();  // the averaging did not count
  CHECK_FALSE(draws.begin_batch(0, 4).has_value());
  draws.look_ahead();
  CHECK(draws.begin_batch(1, 4)->first == 8);
  draws.finish_round();  // with that batch under way
  CHECK(draws.first() == 5);
  draws.on_batch();
  CHECK(draws.first() == 5);
  CHECK(draws.begin_batch(1, 4)->first == 12);
}

TEST_CASE("a session trains on what it is leased, and says with which draw its gradient begins") {
  Leased f;
  CHECK(f.hands.heartbeats[0].process != 0);
  f.hear(f.dealt(0, {{1, 2, 100, 8, 3}}));
  REQUIRE(f.hands.batches.size() == 1);
  CHECK(f.hands.batches[0].epoch == 2);
  CHECK(f.hands.batches[0].first == 100);
  f.batch_done();
  f.batch_done();
  CHECK(f.hands.batches.size() == 2);  // no more is leased: it calls for more, and waits
  CHECK(f.hands.heartbeats.size() == 2);
  CHECK(f.session.view(f.now).activity.phase == Phase::waiting);
  auto planned = f.dealt(0, {{9, 2, 108, 8, 3}});
  planned.group = f.group(0);
  f.hear(planned);
  REQUIRE(f.hands.weights.size() == 1);
  CHECK(f.hands.weights[0] == 8);
  CHECK(f.hands.draws[0] == 1);
  AveragingOutcome outcome = f.outcome(AveragingOutcome::Verdict::averaged, {8, 6, 4});
  outcome.draws = {5, 1, 0};
  f.session.on_averaged(f.now, outcome);
  f.session.on_step_done(f.now, digest(2));
  REQUIRE(f.hands.recorded.size() == 1);
  CHECK(f.hands.recorded[0].contributions[0].draw == 5);
  CHECK(f.hands.recorded[0].contributions[1].draw == 1);
  CHECK(f.hands.batches.back().first == 108);
  CHECK(f.hands.heartbeats.back().next_draw == 9);
}

TEST_CASE("a sample whose gradient is not finite is passed over and told, once another is fine") {
  Leased f;
  f.hear(f.dealt(0, {{1, 2, 100, 40, 3}}));
  f.batch_done();
  const auto fail = [&] {
    f.session.on_batch_done(f.now, Error{ErrorCode::corrupt, "not finite"});
    f.now += std::chrono::seconds(1);
    f.session.on_timer(f.now);
  };
  for (int halves = 0; halves < 3; ++halves) fail();  // 4, 2 and 1
  CHECK(f.hands.batches.back().first == 105);
  CHECK(f.hands.batches.back().count == 4);
  CHECK(f.hands.unusable.empty());
  f.batch_done();
  REQUIRE(f.hands.unusable.size() == 1);
  CHECK(f.hands.unusable[0].process == f.hands.heartbeats[0].process);
  CHECK(f.hands.unusable[0].draws == std::vector<SampleCount>{5});
  CHECK(f.session.view(f.now).samples_this_round == 9);  // it is counted, although it adds nothing
  CHECK(f.session.view(f.now).samples_total == 8);
}

TEST_CASE("while the coordinator is away a session goes on beyond its leases, with samples of no epoch") {
  const auto miss_coordinator = [](Leased& f) {
    for (int call = 0; call < 3; ++call) {
      f.now += std::chrono::seconds(6);
      f.session.on_timer(f.now);
      f.hear_nothing();
    }
  };
  Leased begun;
  begun.hear(begun.dealt(0, {{1, 0, 0, 4, 3}}));
  begun.batch_done();
  miss_coordinator(begun);
  CHECK(begun.hands.batches.size() == 1);  // a gradient never has both leased samples and others
  Leased fresh;
  fresh.hear(fresh.dealt(0, {}));
  CHECK(fresh.hands.batches.empty());
  miss_coordinator(fresh);
  REQUIRE(fresh.hands.batches.size() == 1);
  CHECK(fresh.hands.batches[0].epoch == wire::kNoEpoch);
  CHECK(fresh.hands.batches[0].lane == 3);
}

TEST_CASE("a gradient whose round is numbered anew may have counted: it is dropped") {
  Leased f;
  f.hear(f.dealt(0, {{1, 0, 0, 40, 9}}));
  f.batch_done();
  f.session.tell_soon(f.now);
  auto anew = f.reply(5, digest(1));
  anew.leases = {{1, 0, 0, 40, 9}};
  f.hear(anew);
  f.batch_done();  // the one that was under way
  CHECK(f.session.view(f.now).samples_this_round == 0);
  CHECK(f.hands.batches.back().round == 5);
  CHECK(f.hands.batches.back().first == 4);
}
