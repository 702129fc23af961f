#include "client/session/session.h"

#include <doctest/doctest.h>

#include "tests/client/session/session_fixture.h"

using namespace starling;
using namespace starling::session;

namespace {

// A session whose project has signed that its run begins with digest(1).
struct Signed : Fixture {
  explicit Signed(InitialState initial = {0, digest(1), {}})
      : Fixture(std::move(initial), false, false, swarm::kMemberSamplesMax, digest(1)) {}
};

}  // namespace

TEST_CASE("a replica at another state loads the swarm's and drops what it computed") {
  Fixture f;
  f.begin_training();
  f.batch_done();
  f.hear(f.reply_with_donor(5, digest(7)));
  f.batch_done();  // the one that was under way counts for nothing
  REQUIRE(f.hands.fetches.size() == 1);
  CHECK(f.hands.fetches[0].first == 5);
  CHECK(f.session.view(f.now).activity.phase == Phase::downloading);
  CHECK(f.session.view(f.now).samples_this_round == 0);
  const std::size_t batches = f.hands.batches.size();
  f.session.on_state_fetched(f.now, 5, digest(7), Status());
  CHECK(f.session.view(f.now).state_round == 5);
  REQUIRE(f.hands.batches.size() == batches + 1);
  CHECK(f.hands.batches.back().round == 5);
  CHECK(f.hands.batches.back().first == 0);
  CHECK(f.hands.batch_first.back());
}

TEST_CASE("a download that fails is tried again later, not at once") {
  Fixture f({0, digest(9), {}});
  const auto reply = f.reply_with_donor(5, digest(1));
  f.hear(reply);
  f.session.on_state_fetched(f.now, 5, digest(1), Error{ErrorCode::unavailable, "the donor vanished"});
  f.hear(reply);
  CHECK(f.hands.fetches.size() == 1);
  f.session.on_timer(f.now + std::chrono::seconds(1));
  CHECK(f.hands.fetches.size() == 2);
}

TEST_CASE(
    "while the coordinator names no donors nothing is tried, its words are shown, and the next donor is asked at "
    "once") {
  Fixture f({0, digest(9), {}});
  for (RoundIndex round = 5; round < 15; ++round) {
    const Digest state = digest(static_cast<std::uint8_t>(round + 20));
    f.hear(f.reply_with_donor(round, state));
    f.session.on_state_fetched(f.now, round, state, Error{ErrorCode::unavailable, "not held any more"});
  }
  const std::size_t tried = f.hands.fetches.size();
  auto reply = f.reply(15, digest(50));
  reply.notice = "rounds are too short";
  f.hear(reply);
  f.session.on_timer(f.now + std::chrono::seconds(9));
  CHECK(f.hands.fetches.size() == tried);
  CHECK(f.session.view(f.now).activity.reason == "rounds are too short");
  f.hear(f.reply_with_donor(16, digest(51)));
  CHECK(f.hands.fetches.size() == tried + 1);
}

TEST_CASE("a donor that has moved on is no reason to wait: the newer state is fetched at once") {
  Fixture f({0, digest(9), {}});
  const auto reply = f.reply_with_donor(5, digest(1));
  f.hear(reply);
  f.session.on_state_fetched(f.now, 5, digest(1), Error{ErrorCode::unavailable, "not held any more"});
  f.hear(f.reply_with_donor(6, digest(2)));
  REQUIRE(f.hands.fetches.size() == 2);
  CHECK(f.hands.fetches[1].first == 6);
}

TEST_CASE("a download of a state that the swarm has left behind gives way to one of the newer state") {
  Fixture f({0, digest(9), {}});
  const auto reply = f.reply_with_donor(5, digest(1));
  f.hear(reply);
  f.hear(reply);
  CHECK(f.hands.fetches.size() == 1);
  f.hear(f.reply_with_donor(6, digest(2)));
  REQUIRE(f.hands.fetches.size() == 2);
  f.session.on_state_fetched(f.now, 5, digest(1), Status());  // it was complete already, and is installed
  CHECK(f.session.view(f.now).activity.phase == Phase::downloading);
  CHECK(f.hands.batches.empty());
  f.session.on_state_fetched(f.now, 6, digest(2), Status());
  CHECK(f.session.view(f.now).synced);
  REQUIRE(f.hands.batches.size() == 1);
  CHECK(f.hands.batches[0].round == 6);
}

TEST_CASE("whose group went on without it drops its round and loads the state once the round is decided") {
  Fixture f;
  f.begin_training();
  f.begin_averaging();
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::expelled, {0, 0, 0}));
  CHECK(f.hands.steps.empty());
  CHECK(f.session.view(f.now).synced);
  CHECK(f.session.view(f.now).rounds_failed == 0);
  f.batch_done();
  f.hear(f.reply(1, digest(2)));
  f.batch_done();
  CHECK(f.session.view(f.now).rounds_failed == 1);
  CHECK_FALSE(f.session.view(f.now).synced);
  CHECK(f.session.view(f.now).activity.reason.find("went on without this computer") != std::string::npos);
  CHECK(f.session.view(f.now).samples_this_round == 0);
  f.hear(f.reply_with_donor(1, digest(2)));
  CHECK(f.hands.fetches.size() == 1);
}

TEST_CASE("whose group went on without it, and came to no decision, offers the same samples again") {
  Fixture f;
  f.begin_training();
  f.begin_averaging();
  const SampleCount offered = f.hands.weights.back();
  REQUIRE(offered > 0);
  auto again = f.reply(0, digest(1));
  again.group = f.group(0, {1, 2, 3});
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::expelled, {0, 0, 0}));
  f.hear(again);  // its old group
  f.batch_done();
  CHECK(f.hands.weights.size() == 1);
  again.group = f.group(0, {1, 2, 3, 4});
  f.hear(again);
  f.batch_done();
  REQUIRE(f.hands.weights.size() == 2);
  CHECK(f.hands.weights.back() > offered);
  CHECK(f.session.view(f.now).rounds_failed == 0);
}

TEST_CASE("a gradient that cannot be averaged is computed anew, also when nobody else is there") {
  Fixture f;
  f.begin_training();
  f.begin_averaging();
  auto outcome = f.outcome(AveragingOutcome::Verdict::expelled, {0, 0, 0});
  outcome.unsound = true;
  f.session.on_averaged(f.now, outcome);
  CHECK(f.session.view(f.now).rounds_failed == 1);
  CHECK(f.session.view(f.now).samples_this_round == 0);
  f.hear(f.reply(0, digest(1)));
  CHECK(f.session.view(f.now).synced);
  CHECK(f.hands.batch_first.back());
  CHECK(f.session.view(f.now).rounds_failed == 1);
}

TEST_CASE("a state that the swarm numbers anew is kept under its new number") {
  Fixture f({7, digest(1), {}});
  f.hear(f.reply(12, digest(1)));
  CHECK(f.session.view(f.now).state_round == 12);
  CHECK(f.hands.fetches.empty());
  CHECK(f.hands.batches.back().round == 12);
}

TEST_CASE("a late answer that knows less than this replica changes nothing") {
  Fixture f;
  f.begin_training();
  f.play_round(0, digest(2));
  f.hear(f.reply(0, digest(1)));
  CHECK(f.session.view(f.now).synced);
  CHECK(f.session.view(f.now).state_round == 1);
}

TEST_CASE("a state that only the coordinator still has is fetched there, and from members once they have it") {
  Fixture f({0, digest(9), {}});
  auto reply = f.reply(5, digest(1));
  reply.kept.checkpoint = wire::Checkpoint{4, digest(1), {digest(77), 400}};
  f.hear(reply);
  REQUIRE(f.hands.fetches.size() == 1);
  CHECK(f.hands.fetches[0] == std::pair(RoundIndex{5}, digest(1)));
  CHECK(f.hands.files_fetched == std::vector{digest(77)});
  f.session.on_state_fetched(f.now, 5, digest(1), Error{ErrorCode::unavailable, "the line broke"});
  f.hear(f.reply_with_donor(5, digest(1)));
  f.session.on_timer(f.now + std::chrono::seconds(3));
  CHECK(f.hands.fetches.size() == 2);
  CHECK(f.hands.files_fetched.size() == 1);
  f.session.on_state_fetched(f.now, 5, digest(1), Status());
  CHECK(f.session.view(f.now).state_round == 5);
  CHECK(f.session.view(f.now).synced);
}

TEST_CASE("a copy of another state than the swarm's is not fetched") {
  Fixture f({0, digest(9), {}});
  auto reply = f.reply(5, digest(1));
  reply.kept.checkpoint = wire::Checkpoint{4, digest(2), {digest(77), 400}};
  f.hear(reply);
  CHECK(f.hands.fetches.empty());
  CHECK(f.session.view(f.now).activity.reason == "waiting for a member that can hand over the model");
}

TEST_CASE("the coordinator gets a copy of the state that it asks for, and of no other") {
  Fixture f;
  auto reply = f.reply(0, digest(1));
  reply.send_checkpoint = true;
  f.hear(reply);
  REQUIRE(f.hands.sent.size() == 1);
  CHECK(f.hands.sent[0] == std::pair(RoundIndex{0}, digest(1)));
  auto other = f.reply_with_donor(5, digest(7));
  other.send_checkpoint = true;
  f.hear(other);
  CHECK(f.hands.sent.size() == 1);
}

TEST_CASE("another state for round 0 than the signed one is refused, whoever holds it, and the reason is shown") {
  Signed f;
  f.hear(f.reply_with_donor(0, digest(7)));
  CHECK(f.hands.fetches.empty());
  CHECK(f.hands.made.empty());
  CHECK(f.hands.batches.empty());
  CHECK_FALSE(f.session.view(f.now).synced);
  CHECK(f.session.view(f.now).activity.reason.find("than the one that the project has signed") != std::string::npos);
  f.session.on_timer(f.now + std::chrono::minutes(1));
  CHECK(f.hands.fetches.empty());
  f.begin_training();  // the coordinator has come to its senses
  CHECK(f.hands.batches.size() == 1);
}

TEST_CASE("whoever trains already stops when it is told of another state for round 0") {
  Signed f;
  f.begin_training();
  f.batch_done();
  f.hear(f.reply_with_donor(0, digest(7)));
  f.batch_done();
  const std::size_t batches = f.hands.batches.size();
  f.session.on_timer(f.now + std::chrono::seconds(30));
  CHECK(f.hands.batches.size() == batches);
  CHECK(f.hands.fetches.empty());
  CHECK(f.session.view(f.now).state_digest == digest(1));
}

TEST_CASE("a replica that is elsewhere makes the state of round 0 by itself, without donors") {
  Signed f({40, digest(9), {}});
  f.hear(f.reply(0, digest(1)));
  REQUIRE(f.hands.made == std::vector<Digest>{digest(1)});
  CHECK(f.hands.fetches.empty());
  f.hear(f.reply(0, digest(1)));
  CHECK(f.hands.made.size() == 1);
  f.session.on_state_fetched(f.now, 0, digest(1), Status());
  CHECK(f.session.view(f.now).synced);
  CHECK(f.session.view(f.now).state_round == 0);
  REQUIRE(f.hands.batches.size() == 1);
  CHECK(f.hands.batches[0].round == 0);
  // It is no answer to a later reply.
  f.hear(f.reply(5, digest(6)));
  CHECK(f.hands.made.size() == 1);
  CHECK(f.session.view(f.now).activity.reason == "waiting for a member that can hand over the model");
}

TEST_CASE("a first state that can not be made is tried again later, and the swarm's newer one takes its place") {
  Signed f({0, digest(9), {}});
  f.hear(f.reply(0, digest(1)));
  f.session.on_state_fetched(f.now, 0, digest(1), Error{ErrorCode::failed_precondition, "update Starling"});
  CHECK(f.session.view(f.now).activity.reason == "update Starling");
  f.hear(f.reply(0, digest(1)));
  CHECK(f.hands.made.size() == 1);
  f.session.on_timer(f.now + std::chrono::seconds(1));
  CHECK(f.hands.made.size() == 2);
  f.hear(f.reply_with_donor(1, digest(2)));
  REQUIRE(f.hands.fetches.size() == 1);
  CHECK(f.hands.fetches[0].second == digest(2));
  f.session.on_state_fetched(f.now, 0, digest(1), Status());  // it was under way
  f.session.on_state_fetched(f.now, 1, digest(2), Status());
  CHECK(f.session.view(f.now).state_round == 1);
  CHECK(f.session.view(f.now).synced);
}

TEST_CASE("past round 0, and where nothing was signed, the coordinator's word on the state counts") {
  Signed f;
  f.hear(f.reply_with_donor(3, digest(7)));
  CHECK(f.hands.fetches.size() == 1);
  Fixture legacy;
  legacy.hear(legacy.reply_with_donor(0, digest(7)));
  CHECK(legacy.hands.fetches.size() == 1);
  CHECK(legacy.hands.made.empty());
}

TEST_CASE("a volunteer without the trunk calls the coordinator, and loads, computes and averages nothing") {
  Hands hands;
  Fixture swarm;  // for its replies
  Session session({.run_id = "run", .self = peer(1), .has_state = false, .listen_port = 7000}, {}, hands);
  TimePoint now = kStart;
  session.start(now);
  REQUIRE(hands.heartbeats.size() == 1);
  CHECK(hands.heartbeats[0].phase == wire::MemberPhase::holding);
  CHECK(hands.heartbeats[0].state_digest.is_zero());
  CHECK(session.view(now).activity.phase == Phase::joining);
  auto reply = swarm.reply_with_donor(5, digest(7));
  reply.group = swarm.group(5);
  reply.evaluate_round = 5;
  reply.send_checkpoint = true;
  session.on_heartbeat_reply(now, reply);
  CHECK(session.view(now).activity.phase == Phase::training);
  CHECK(session.next_deadline(now) == now + std::chrono::seconds(1));
  now += std::chrono::seconds(1);
  session.on_timer(now);
  REQUIRE(hands.heartbeats.size() == 2);
  session.on_heartbeat_failed(now, Error{ErrorCode::unavailable, "away"});
  now = session.next_deadline(now);
  session.on_timer(now);
  CHECK(hands.heartbeats.size() == 3);
  session.on_heartbeat_reply(now, reply);
  session.set_paused(now, true, "you paused");
  CHECK(hands.heartbeats.back().phase == wire::MemberPhase::paused);
  CHECK(session.view(now).activity.phase == Phase::paused);
  CHECK((hands.fetches.empty() && hands.batches.empty() && hands.groups.empty() && hands.sent.empty()));
  CHECK(hands.evaluations == 0);
}
