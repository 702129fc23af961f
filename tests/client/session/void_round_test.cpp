// A round that the volunteer finished and that does not count: it goes back, and computes the same samples again.
#include <doctest/doctest.h>

#include "client/session/draws.h"
#include "client/session/session.h"
#include "tests/client/session/session_fixture.h"

using namespace starling;
using namespace starling::session;

namespace {

// The coordinator's word that the result of round 0 is void: round 0 goes on from the state that it began with.
wire::HeartbeatReply void_round(const Fixture& f) {
  auto reply = f.reply(0, digest(1));
  reply.acknowledged_rounds = 1;
  return reply;
}

// Believes each proof.
StateTrust believing() {
  StateTrust trust;
  trust.verify = [](const wire::StateProof& proof) -> Result<manifest::ProvenStates> {
    manifest::ProvenStates proven;
    proven.statement.serial = 1;
    for (const wire::StateLink& link : proof.links) proven.path.push_back({link.round, link.state_digest});
    return proven;
  };
  trust.remember = [](const KnownState& /*known*/) {};
  return trust;
}

// The coordinator's word that the swarm is at round 3, and a proof that leads there through this state of round 1.
wire::HeartbeatReply two_rounds_on(const Fixture& f, const Digest& of_round_1) {
  wire::HeartbeatReply reply = f.reply_with_donor(3, digest(9));
  reply.acknowledged_rounds = 3;
  reply.kept.state_proof.emplace();
  for (const auto& [round, state] : {std::pair(0, digest(1)), {1, of_round_1}, {2, digest(8)}, {3, digest(9)}}) {
    wire::StateLink& link = reply.kept.state_proof->links.emplace_back();
    link.round = round;
    link.state_digest = state;
  }
  return reply;
}

// A session at round 1, with the report of round 0 sent and not settled.
struct Finished : Fixture {
  explicit Finished(bool leased = false) : Fixture({0, digest(1), {}}, false, leased) { finish(leased); }
  explicit Finished(StateTrust trust) : Fixture(std::move(trust)) { finish(false); }

 private:
  void finish(bool leased) {
    auto plain = reply(0, digest(1));
    if (leased) plain.leases = {{1, 0, 100, 40, 3}};
    hear(plain);
    auto planned = plain;
    planned.group = group(0);
    hear(planned);
    batch_done();
    session.on_averaged(now, outcome(AveragingOutcome::Verdict::averaged, {4, 6, 6}));
    session.on_step_done(now, digest(2));
    hear(plain);  // answers a call from before the step; the next one sends the report
    batch_done();
  }
};

}  // namespace

TEST_CASE("a result that does not count is withdrawn, and the volunteer returns to the state before it by itself") {
  Finished f;
  CHECK(f.session.view(f.now).reports_waiting == 1);
  f.hear(void_round(f));
  CHECK(f.hands.withdrawn == std::vector<RoundIndex>{0});
  f.batch_done();  // a batch of the state that is gone
  REQUIRE(f.hands.restored.size() == 1);
  CHECK(f.hands.restored[0] == std::pair(RoundIndex{0}, digest(1)));
  CHECK(f.hands.fetches.empty());
  CHECK(f.session.view(f.now).reports_waiting == 0);
  CHECK(f.session.view(f.now).rounds_failed == 1);
  f.session.on_state_fetched(f.now, 0, digest(1), Status());
  const Session::View view = f.session.view(f.now);
  CHECK(view.synced);
  CHECK(view.state_round == 0);
  CHECK(view.samples_this_round == 0);
  CHECK(f.hands.batches.back().round == 0);
  CHECK(f.hands.batches.back().first == f.hands.batches.front().first);
  CHECK(f.hands.batch_anew.back());
}

TEST_CASE("a result counts, though the run goes on from another state because that one was lost") {
  Finished f;
  auto reply = f.reply_with_donor(1, digest(9));
  reply.acknowledged_rounds = 1;
  f.hear(reply);
  CHECK(f.hands.withdrawn.empty());
  CHECK(f.session.view(f.now).reports_waiting == 0);
  CHECK_FALSE(f.session.view(f.now).synced);
}

TEST_CASE("rounds later, a proof of the swarm's states tells whether a result counts; until then its report waits") {
  for (const bool counts : {true, false}) {
    CAPTURE(counts);
    Finished f(believing());
    const wire::HeartbeatReply proven = two_rounds_on(f, counts ? digest(2) : digest(7));
    wire::HeartbeatReply named = proven;
    named.kept.state_proof.reset();
    f.hear(named);
    CHECK(f.session.view(f.now).reports_waiting == 1);
    CHECK(f.hands.forgotten == 0);
    f.now += std::chrono::seconds(1);
    f.session.on_timer(f.now);  // asks for the proof
    f.hear(proven);
    CHECK(f.session.view(f.now).reports_waiting == 0);
    CHECK(f.hands.withdrawn == (counts ? std::vector<RoundIndex>{} : std::vector<RoundIndex>{0}));
    CHECK(f.session.view(f.now).rounds_failed == (counts ? 0 : 1));
    CHECK_FALSE(f.session.view(f.now).synced);
  }
}

TEST_CASE("a member that averages settles no result that the swarm may not have gone on from") {
  Finished f;
  auto planned = f.reply(1, digest(2));
  planned.acknowledged_rounds = 0;
  planned.group = f.group(1);
  f.hear(planned);
  f.batch_done();
  REQUIRE(f.hands.groups.size() == 2);
  auto reply = f.reply_with_donor(3, digest(9));
  reply.acknowledged_rounds = 3;
  f.hear(reply);
  CHECK(f.session.view(f.now).reports_waiting == 1);
}

TEST_CASE("leased samples of a round that does not count are drawn once more, in their order") {
  Finished f(true);
  const wire::SampleRange first = f.hands.batches.front();
  CHECK(f.hands.batches.back().first > first.first);
  auto reply = void_round(f);
  reply.leases = {};  // it has reported that it drew further: the coordinator believes the lease to be used up
  f.hear(reply);
  f.batch_done();
  f.session.on_state_fetched(f.now, 0, digest(1), Status());
  CHECK(f.hands.batches.back().first == first.first);
  CHECK(f.hands.batches.back().epoch == first.epoch);
  f.hear(f.reply(0, digest(1)));
  CHECK(f.hands.heartbeats.back().next_draw == 1);
}

TEST_CASE("a volunteer that could not keep the state before its step loads it from others") {
  Finished f;
  f.hear(void_round(f));
  f.batch_done();
  f.session.on_state_fetched(f.now, 0, digest(1), Error{ErrorCode::not_found, "the disk was full"});
  CHECK_FALSE(f.session.view(f.now).synced);
  auto reply = f.reply_with_donor(0, digest(1));
  reply.acknowledged_rounds = 1;
  f.now += std::chrono::seconds(1);
  f.hear(reply);
  REQUIRE(f.hands.fetches.size() == 1);
  CHECK(f.hands.fetches[0] == std::pair(RoundIndex{0}, digest(1)));
}

TEST_CASE("the state before a step is kept until the round is settled") {
  Finished f;
  auto reply = f.reply(1, digest(2));
  reply.acknowledged_rounds = 0;  // decided, and not durable yet
  f.hear(reply);
  CHECK(f.hands.previous_forgotten == 0);
  reply.acknowledged_rounds = 1;
  f.hear(reply);
  CHECK(f.hands.previous_forgotten == 1);
  CHECK(f.session.view(f.now).reports_waiting == 0);
  CHECK(f.hands.withdrawn.empty());
  f.hear(reply);
  CHECK(f.hands.previous_forgotten == 1);
}

TEST_CASE("without the coordinator, and with half of the group, a volunteer waits and says so") {
  Fixture f({0, digest(1), {}}, false, false, 16);
  f.begin_training();
  f.now += std::chrono::seconds(3);
  f.play_round(0, digest(2));
  f.session.on_timer(f.now);
  for (int i = 0; i < 20 && f.hands.groups.size() < 2; ++i) {
    f.now += std::chrono::seconds(1);
    f.hear_nothing();
    f.session.on_timer(f.now + std::chrono::seconds(6));
    f.batch_done();
  }
  REQUIRE(f.hands.groups.size() == 2);  // its group meets without the coordinator
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::minority, {4, 0, 0}));
  for (int i = 0; f.session.view(f.now).samples_this_round < 16; ++i) {
    REQUIRE(i < 10);
    f.batch_done();
  }
  CHECK(f.hands.groups.size() == 2);
  CHECK(f.session.view(f.now).state_round == 1);
  const Activity activity = f.session.view(f.now).activity;
  CHECK_MESSAGE(activity.reason.find("only half of the group or less is left") != std::string::npos, activity.reason);
  f.session.on_timer(f.now + std::chrono::seconds(12));
  f.hear(f.reply(1, digest(2)));
  CHECK(f.session.view(f.now).activity.reason.find("half of the group") == std::string::npos);
}
