// Sessions that compute the next round's gradient while the present one's is averaged.
#include <doctest/doctest.h>

#include <vector>

#include "tests/client/session/session_fixture.h"

using namespace starling;
using namespace starling::session;

namespace {

using Verdict = AveragingOutcome::Verdict;

// Two batches of round 0 are done, and its averaging has begun.
struct Delayed : Fixture {
  Delayed() : Fixture({0, digest(1), {}}, true) {
    begin_training();
    batch_done();
    begin_averaging();
    REQUIRE(hands.groups.size() == 1);
  }

  void average(std::vector<SampleCount> samples = {8, 6, 6}, Verdict verdict = Verdict::averaged) {
    session.on_averaged(now, outcome(verdict, std::move(samples)));
  }
};

}  // namespace

TEST_CASE("while a round is averaged, batches of the next one are computed and added to its own gradient") {
  Delayed f;
  CHECK(f.hands.weights[0] == 8);
  REQUIRE(f.hands.batches.size() == 3);
  CHECK(f.hands.batches[2].round == 1);
  CHECK(f.hands.batches[2].first == 0);
  CHECK(f.hands.batch_ahead[2]);
  CHECK(f.hands.batch_first[2]);
  CHECK(f.hands.batch_anew[0]);
  CHECK_FALSE(f.hands.batch_anew[1]);
  CHECK_FALSE(f.hands.batch_anew[2]);
  f.batch_done();
  CHECK(f.hands.batches[3].round == 1);
  CHECK(f.hands.batches[3].first == 4);
  CHECK(f.hands.batch_ahead[3]);
  CHECK_FALSE(f.hands.batch_first[3]);
  CHECK(f.session.view(f.now).activity.phase == Phase::training);
  CHECK(f.session.view(f.now).samples_this_round == 8);
  CHECK(f.session.view(f.now).state_digest == digest(1));
}

TEST_CASE("batches go on beside the step, too, and the next round has them all") {
  Delayed f;
  f.batch_done();
  f.average();
  CHECK(f.hands.steps.size() == 1);  // at once, in the middle of a batch
  f.batch_done();
  f.batch_done();
  REQUIRE(f.hands.batches.size() == 6);
  CHECK(f.hands.batch_ahead[5]);
  CHECK(f.session.view(f.now).activity.phase == Phase::training);
  f.session.on_step_done(f.now, digest(2));
  REQUIRE(f.hands.recorded.size() == 1);
  CHECK(f.hands.recorded[0].contributions[0].samples == 8);
  CHECK(f.hands.recorded[0].loss == 2);
  CHECK(f.session.view(f.now).samples_this_round == 12);  // round 1's
  f.batch_done();                                         // was begun before the step
  CHECK(f.session.view(f.now).samples_this_round == 16);
  REQUIRE(f.hands.batches.size() == 7);
  CHECK(f.hands.batches[6].round == 1);
  CHECK(f.hands.batches[6].first == 16);
  CHECK_FALSE(f.hands.batch_ahead[6]);
  CHECK_FALSE(f.hands.batch_first[6]);
  f.hear(f.reply(0, digest(1)));  // answers the call that was under way
  CHECK(f.hands.heartbeats.back().samples_this_round == 16);
  CHECK(f.hands.heartbeats.back().state_digest == digest(2));
}

TEST_CASE("a round that did not count grows on, and the next one keeps what it has") {
  Delayed f;
  f.batch_done();
  f.average({0, 0, 0});
  f.batch_done();  // was begun for round 1
  REQUIRE(f.hands.batches.size() == 5);
  CHECK(f.hands.batches[4].round == 0);
  CHECK(f.hands.batches[4].first == 8);
  CHECK_FALSE(f.hands.batch_ahead[4]);
  CHECK_FALSE(f.hands.batch_first[4]);
  auto planned = f.reply(0, digest(1));
  planned.group = f.group(0, {1, 2, 3, 4});
  f.hear(planned);
  f.batch_done();
  REQUIRE(f.hands.weights.size() == 2);
  CHECK(f.hands.weights[1] == 12);
  CHECK(f.hands.batches.back().round == 1);
  CHECK(f.hands.batches.back().first == 8);  // no sample twice
  CHECK_FALSE(f.hands.batch_first.back());
  f.average({12, 6, 6, 6});
  f.batch_done();
  f.session.on_step_done(f.now, digest(2));
  CHECK(f.session.view(f.now).samples_this_round == 12);
}

TEST_CASE("who was left out loses both gradients, and begins at the state that it loads") {
  Delayed f;
  f.average({0, 6, 6}, Verdict::expelled);
  f.hear(f.reply_with_donor(1, digest(2)));
  CHECK(f.hands.fetches.empty());  // a batch is under way
  f.batch_done();
  REQUIRE(f.hands.fetches.size() == 1);
  f.session.on_state_fetched(f.now, 1, digest(2), Status());
  CHECK(f.hands.batches.back().round == 1);
  CHECK(f.hands.batches.back().first == 0);
  CHECK(f.hands.batch_first.back());
  CHECK(f.hands.batch_anew.back());
  CHECK_FALSE(f.hands.batch_ahead.back());
  CHECK(f.session.view(f.now).samples_this_round == 0);
}

TEST_CASE("a trainer that dies while a round is averaged costs a batch, and does not hold up the step") {
  Delayed f;
  const Error died{ErrorCode::unavailable, "the trainer failed, it was killed"};
  f.session.on_batch_done(f.now, died);
  CHECK(f.hands.batches.size() == 3);
  f.now = f.session.next_deadline(f.now);
  f.session.on_timer(f.now);
  REQUIRE(f.hands.batches.size() == 4);
  CHECK(f.hands.batches[3].first == 0);
  f.session.on_batch_done(f.now, died);
  f.average();
  CHECK(f.hands.steps.size() == 1);  // at once
  f.session.on_step_done(f.now, Error{ErrorCode::internal, "no memory"});
  CHECK(f.hands.steps.size() == 1);
  CHECK(f.hands.batches.size() == 4);
  f.now = f.session.next_deadline(f.now);
  f.session.on_timer(f.now);
  CHECK(f.hands.steps.size() == 2);
}

TEST_CASE("a pause while a round is averaged ends the batch, and the round is finished first") {
  Delayed f;
  f.session.set_paused(f.now, true, "you use the computer");
  f.session.on_batch_done(f.now, Error{ErrorCode::unavailable, "training is paused"});
  CHECK(f.hands.batches.size() == 3);
  CHECK(f.session.view(f.now).activity.phase == Phase::averaging);
  f.average();
  f.session.on_step_done(f.now, digest(2));
  CHECK(f.session.view(f.now).activity.phase == Phase::paused);
  CHECK(f.session.view(f.now).state_round == 1);
  f.session.set_paused(f.now, false, "");
  CHECK(f.hands.batches.back().round == 1);
  CHECK(f.hands.batches.back().first == 0);
}

TEST_CASE("nothing but batches is computed, and nothing judged, while a round is averaged") {
  Delayed f;
  auto reply = f.reply_with_donor(1, digest(9));
  reply.evaluate_round = 0;
  f.hear(reply);
  f.batch_done();
  CHECK(f.hands.evaluations == 0);
  CHECK(f.hands.fetches.empty());
  CHECK(f.session.view(f.now).synced);
}
