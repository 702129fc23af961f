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
  CHECK(draws.begin_batch(0, 4)->first == 40);  // nothing has come of it
  draws.on_batch();
  CHECK(draws.begin_batch(0, 4)->count == 2);
  draws.on_batch();
  CHECK(draws.begin_batch(0, 4)->first == 0);
  CHECK(draws.first() == 1);
  draws.begin_round();  // what became of the other one is for others to say
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

TEST_CASE("after samples that can not be used a gradient does not grow") {
  Draws draws;
  draws.hold({{1, 0, 0, 20, 3}});
  draws.begin_batch(0, 4);
  draws.skip();
  CHECK(draws.begin_batch(0, 4)->first == 4);  // it has none yet
  draws.on_batch();
  draws.begin_batch(0, 4);
  draws.skip();
  CHECK_FALSE(draws.begin_batch(0, 4).has_value());
  draws.begin_round();
  CHECK(draws.begin_batch(1, 4)->first == 12);
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
  CHECK(begun.hands.batches.size() == 1);  // a gradient is never of leased samples and of others
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
