#include "client/session/session.h"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "shared/swarm/plan.h"
#include "shared/swarm/successor.h"

using namespace starling;
using namespace starling::session;
using averaging::AveragingOutcome;

namespace {

constexpr TimePoint kStart{std::chrono::seconds(1000)};

PeerId peer(std::uint8_t n) {
  PeerId id;
  id.bytes.fill(n);
  return id;
}

Digest digest(std::uint8_t n) {
  Digest d;
  d.bytes.fill(n);
  return d;
}

// Remembers what the session asked for; the test then plays the world.
struct Hands : Session::Mediator {
  std::vector<wire::Heartbeat> heartbeats;
  std::vector<wire::SampleRange> batches;
  std::vector<bool> batch_first;
  std::vector<wire::GroupInfo> groups;
  std::vector<SampleCount> weights;
  std::vector<RoundIndex> steps;
  int evaluations = 0;
  std::vector<std::pair<RoundIndex, Digest>> fetches;
  std::vector<wire::RoundReport> recorded;
  RoundIndex forgotten = 0;
  int checkpoints = 0;

  void send_heartbeat(const wire::Heartbeat& heartbeat) override { heartbeats.push_back(heartbeat); }
  void start_batch(const wire::SampleRange& samples, bool first) override {
    batches.push_back(samples);
    batch_first.push_back(first);
  }
  void start_averaging(const wire::GroupInfo& group, averaging::Rank, SampleCount weight) override {
    groups.push_back(group);
    weights.push_back(weight);
  }
  void start_step(RoundIndex round) override { steps.push_back(round); }
  void start_evaluation() override { ++evaluations; }
  void fetch_state(std::span<const wire::Endpoint>, RoundIndex round, const Digest& d) override {
    fetches.emplace_back(round, d);
  }
  void record_round(const wire::RoundReport& report, Duration) override { recorded.push_back(report); }
  void forget_reports(RoundIndex below) override { forgotten = below; }
  void save_checkpoint(RoundIndex, const Digest&) override { ++checkpoints; }
};

struct Fixture {
  Hands hands;
  TimePoint now = kStart;
  Session session;

  explicit Fixture(InitialState initial = {0, digest(1), {}})
      : session({.run_id = "run", .self = peer(1), .micro_batch_size = 4, .listen_port = 7000}, std::move(initial),
                hands) {
    session.start(now);
  }

  wire::HeartbeatReply reply(RoundIndex round, const Digest& state) const {
    wire::HeartbeatReply reply;
    reply.run_state = wire::RunState::running;
    reply.round = round;
    reply.state_digest = state;
    reply.lane = 3;
    reply.target_batch_size = 16;
    reply.next_heartbeat_ms = 1000;
    return reply;
  }

  wire::GroupInfo group(RoundIndex round, std::int64_t start_in_ms = 0) const {
    std::vector<wire::MemberInfo> members;
    for (const std::uint8_t n : {1, 2, 3}) {
      wire::MemberInfo member;
      member.endpoint = {peer(n), "127.0.0.1", 7000 + n};
      members.push_back(member);
    }
    swarm::PlanOptions options;
    options.run_id = "run";
    options.round = round;
    options.state_digest = digest(static_cast<std::uint8_t>(round + 1));
    options.vector_floats = 1000;
    options.start_in_ms = start_in_ms;
    return swarm::plan_group(members, options);
  }

  void batch_done() { session.on_batch_done(now, BatchReport{4, 8.0, 0.1}); }

  AveragingOutcome outcome(AveragingOutcome::Verdict verdict, std::vector<SampleCount> samples) const {
    AveragingOutcome outcome;
    outcome.verdict = verdict;
    outcome.samples = std::move(samples);
    for (const SampleCount s : outcome.samples) outcome.weight_total += s;
    return outcome;
  }

  // From training to the next round, all three members in it.
  void play_round(RoundIndex round, const Digest& next_state) {
    session.on_heartbeat_reply(now, [&] {
      auto r = reply(round, session.view(now).state_digest);
      r.group = group(round);
      return r;
    }());
    if (hands.groups.size() <= static_cast<std::size_t>(round)) batch_done();
    session.on_averaged(now, outcome(AveragingOutcome::Verdict::averaged, {4, 6, 6}));
    session.on_step_done(now, next_state);
  }
};

}  // namespace

TEST_CASE("a session first asks the coordinator and trains nothing before it knows its state is the swarm's") {
  Fixture f;
  REQUIRE(f.hands.heartbeats.size() == 1);
  CHECK(f.hands.heartbeats[0].phase == wire::MemberPhase::joining);
  CHECK(f.hands.batches.empty());
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  REQUIRE(f.hands.batches.size() == 1);
  CHECK(f.hands.batches[0].lane == 3);
  CHECK(f.hands.batch_first[0]);
}

TEST_CASE("batches of a round walk on through the lane's samples") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  f.batch_done();
  f.batch_done();
  REQUIRE(f.hands.batches.size() == 3);
  CHECK(f.hands.batches[1].first == 4);
  CHECK(f.hands.batches[2].first == 8);
  CHECK_FALSE(f.hands.batch_first[1]);
}

TEST_CASE("a round is trained, averaged, stepped and reported") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  f.batch_done();
  auto planned = f.reply(0, digest(1));
  planned.group = f.group(0);
  f.session.on_timer(f.now + std::chrono::seconds(1));
  f.session.on_heartbeat_reply(f.now, planned);
  f.batch_done();  // the one that was under way
  REQUIRE(f.hands.groups.size() == 1);
  CHECK(f.hands.weights[0] == 8);
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::averaged, {8, 6, 0}));
  REQUIRE(f.hands.steps.size() == 1);
  f.session.on_step_done(f.now, digest(2));
  REQUIRE(f.hands.recorded.size() == 1);
  const wire::RoundReport& report = f.hands.recorded[0];
  CHECK(report.round == 0);
  CHECK(report.members.size() == 3);
  CHECK(report.contributions.size() == 2);  // nothing came from the third
  CHECK(report.state_digest == digest(2));
  CHECK(f.session.view(f.now).state_round == 1);
  CHECK(f.hands.batches.back().round == 1);
  CHECK(f.hands.batch_first.back());
}

TEST_CASE("reports are told again until they are acknowledged") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  f.play_round(0, digest(2));
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));  // of the call that was under way
  REQUIRE(!f.hands.heartbeats.back().reports.empty());
  f.session.on_heartbeat_failed(f.now, Error{ErrorCode::unavailable, "away"});
  f.session.on_timer(f.now + std::chrono::seconds(10));
  CHECK(f.hands.heartbeats.back().reports.size() == 1);
  auto acknowledged = f.reply(1, digest(2));
  acknowledged.acknowledged_rounds = 1;
  f.session.on_heartbeat_reply(f.now, acknowledged);
  CHECK(f.hands.forgotten == 1);
  CHECK(f.session.view(f.now).reports_waiting == 0);
}

TEST_CASE("a replica at another state loads the swarm's and drops what it computed") {
  Fixture f({0, digest(9), {}});
  auto reply = f.reply(5, digest(1));
  reply.donors = {{peer(2), "127.0.0.1", 7002}};
  f.session.on_heartbeat_reply(f.now, reply);
  REQUIRE(f.hands.fetches.size() == 1);
  CHECK(f.hands.fetches[0].first == 5);
  CHECK(f.session.view(f.now).activity.phase == Phase::downloading);
  f.session.on_state_fetched(f.now, 5, digest(1), Status());
  CHECK(f.session.view(f.now).state_round == 5);
  REQUIRE(f.hands.batches.size() == 1);
  CHECK(f.hands.batches[0].round == 5);
}

TEST_CASE("a download that fails is tried again later, not at once") {
  Fixture f({0, digest(9), {}});
  auto reply = f.reply(5, digest(1));
  reply.donors = {{peer(2), "127.0.0.1", 7002}};
  f.session.on_heartbeat_reply(f.now, reply);
  f.session.on_state_fetched(f.now, 5, digest(1), Error{ErrorCode::unavailable, "the donor vanished"});
  f.session.on_heartbeat_reply(f.now, reply);
  CHECK(f.hands.fetches.size() == 1);
  f.session.on_timer(f.now + std::chrono::seconds(1));
  CHECK(f.hands.fetches.size() == 2);
}

TEST_CASE("a donor that has moved on is no reason to wait: the newer state is fetched at once") {
  Fixture f({0, digest(9), {}});
  auto reply = f.reply(5, digest(1));
  reply.donors = {{peer(2), "127.0.0.1", 7002}};
  f.session.on_heartbeat_reply(f.now, reply);
  f.session.on_state_fetched(f.now, 5, digest(1), Error{ErrorCode::unavailable, "not held any more"});
  auto newer = f.reply(6, digest(2));
  newer.donors = reply.donors;
  f.session.on_heartbeat_reply(f.now, newer);
  REQUIRE(f.hands.fetches.size() == 2);
  CHECK(f.hands.fetches[1].first == 6);
}

TEST_CASE("a download of a state that the swarm has left behind gives way to one of the newer state") {
  Fixture f({0, digest(9), {}});
  auto reply = f.reply(5, digest(1));
  reply.donors = {{peer(2), "127.0.0.1", 7002}};
  f.session.on_heartbeat_reply(f.now, reply);
  f.session.on_heartbeat_reply(f.now, reply);
  CHECK(f.hands.fetches.size() == 1);
  auto newer = f.reply(6, digest(2));
  newer.donors = reply.donors;
  f.session.on_heartbeat_reply(f.now, newer);
  REQUIRE(f.hands.fetches.size() == 2);
  f.session.on_state_fetched(f.now, 5, digest(1), Status());  // it was complete already, and is installed
  CHECK(f.session.view(f.now).activity.phase == Phase::downloading);
  CHECK(f.hands.batches.empty());
  f.session.on_state_fetched(f.now, 6, digest(2), Status());
  CHECK(f.session.view(f.now).synced);
  REQUIRE(f.hands.batches.size() == 1);
  CHECK(f.hands.batches[0].round == 6);
}

TEST_CASE("an expelled member drops its round, counts it as lost and loads the state") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  auto planned = f.reply(0, digest(1));
  planned.group = f.group(0);
  f.session.on_heartbeat_reply(f.now, planned);
  f.batch_done();
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::expelled, {0, 0, 0}));
  CHECK(f.hands.steps.empty());
  CHECK(f.session.view(f.now).rounds_failed == 1);
  CHECK_FALSE(f.session.view(f.now).synced);
  auto behind = f.reply(1, digest(2));
  behind.donors = {{peer(2), "127.0.0.1", 7002}};
  f.session.on_heartbeat_reply(f.now, behind);
  CHECK(f.hands.fetches.size() == 1);
}

TEST_CASE("a plan for another round, another run, another state, or without this member is not followed") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  auto planned = f.reply(0, digest(1));
  planned.group = f.group(1);
  f.session.on_heartbeat_reply(f.now, planned);
  f.batch_done();
  planned.group = f.group(0);
  planned.group->run_id = "other";
  f.session.on_heartbeat_reply(f.now, planned);
  f.batch_done();
  planned.group = f.group(0);
  planned.group->state_digest = digest(5);
  f.session.on_heartbeat_reply(f.now, planned);
  f.batch_done();
  planned.group = f.group(0);
  planned.group->members.erase(planned.group->members.begin());
  f.session.on_heartbeat_reply(f.now, planned);
  f.batch_done();
  CHECK(f.hands.groups.empty());
}

// One round with the coordinator, then it is away until the members meet on their own.
void play_into_autonomy(Fixture& f) {
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  f.now += std::chrono::seconds(3);
  f.play_round(0, digest(2));
  f.session.on_timer(f.now);
  for (int i = 0; i < 20 && f.hands.groups.size() < 2; ++i) {
    f.now += std::chrono::seconds(1);
    f.session.on_heartbeat_failed(f.now, Error{ErrorCode::unavailable, "away"});
    f.session.on_timer(f.now + std::chrono::seconds(6));
    f.batch_done();
  }
  REQUIRE(f.hands.groups.size() == 2);
}

TEST_CASE("without the coordinator the survivors of the last round meet again on their own") {
  Fixture f;
  play_into_autonomy(f);
  const wire::GroupInfo expected = swarm::plan_successor(f.group(0), std::vector<SampleCount>{4, 6, 6}, digest(2));
  CHECK(f.hands.groups[1].id == expected.id);
  CHECK(f.hands.groups[1].autonomous);
  CHECK(f.session.view(f.now).coordinator_away);
}

TEST_CASE("an averaging that waited long for somebody does not slow the rounds after it down") {
  Fixture f;
  play_into_autonomy(f);
  f.now += std::chrono::seconds(60);
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::averaged, {4, 6, 0}));
  f.session.on_step_done(f.now, digest(3));
  CHECK(f.hands.groups.size() == 2);
  f.now += std::chrono::seconds(1);  // 40 samples/s bring the batch of 16 in less
  f.batch_done();
  CHECK(f.hands.groups.size() == 3);
}

TEST_CASE("a replica that was loaded anew does not meet the group of its old state without the coordinator") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  f.play_round(0, digest(2));
  auto other = f.reply(1, digest(7));  // the coordinator counted another result
  other.donors = {{peer(2), "127.0.0.1", 7002}};
  f.session.on_heartbeat_reply(f.now, other);
  f.batch_done();
  REQUIRE(f.hands.fetches.size() == 1);
  f.session.on_state_fetched(f.now, 1, digest(7), Status());
  const std::size_t groups = f.hands.groups.size();
  for (int i = 0; i < 6; ++i) {
    f.now += std::chrono::seconds(6);
    f.session.on_timer(f.now);
    f.session.on_heartbeat_failed(f.now, Error{ErrorCode::unavailable, "away"});
    f.batch_done();
  }
  CHECK(f.hands.groups.size() == groups);
}

TEST_CASE("a minority of its group does not step: it trains on and waits for the next plan") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  auto planned = f.reply(0, digest(1));
  planned.group = f.group(0);
  f.session.on_heartbeat_reply(f.now, planned);
  f.batch_done();
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::minority, {4, 0, 0}));
  CHECK(f.hands.steps.empty());
  CHECK(f.hands.recorded.empty());
  REQUIRE(f.hands.batches.size() == 2);
  CHECK_FALSE(f.hands.batch_first.back());  // what was computed is kept
  CHECK(f.hands.batches.back().first == 4);
  SUBCASE("the coordinator plans again with those who are left") {
    auto again = f.reply(0, digest(1));
    again.group = f.group(0);
    f.session.on_heartbeat_reply(f.now, again);
    f.batch_done();
    REQUIRE(f.hands.weights.size() == 2);
    CHECK(f.hands.weights[1] == 8);
  }
  SUBCASE("the others went on: it loads their state") {
    auto ahead = f.reply(1, digest(7));
    ahead.donors = {{peer(2), "127.0.0.1", 7002}};
    f.session.on_heartbeat_reply(f.now, ahead);
    f.batch_done();
    CHECK(f.hands.fetches.size() == 1);
  }
  SUBCASE("the coordinator is away: it does not meet on its own") {
    for (int i = 0; i < 5; ++i) {
      f.now += std::chrono::seconds(6);
      f.session.on_timer(f.now);
      f.session.on_heartbeat_failed(f.now, Error{ErrorCode::unavailable, "away"});
      f.batch_done();
    }
    CHECK(f.hands.groups.size() == 1);
  }
}

TEST_CASE("a gradient that is not finite is passed over; other failures repeat the batch") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  f.session.on_batch_done(f.now, Error{ErrorCode::unavailable, "the trainer died"});
  CHECK(f.hands.batches.size() == 1);  // not at once
  CHECK(f.session.view(f.now).activity.phase == Phase::waiting);
  f.now += std::chrono::seconds(1);
  f.session.on_timer(f.now);
  REQUIRE(f.hands.batches.size() == 2);
  CHECK(f.hands.batches[1].first == 0);
  f.session.on_batch_done(f.now, Error{ErrorCode::corrupt, "not finite"});
  f.now += std::chrono::seconds(1);
  f.session.on_timer(f.now);
  REQUIRE(f.hands.batches.size() == 3);
  CHECK(f.hands.batches[2].first == 4);
}

TEST_CASE("a batch that a pause ends in the middle is no failure and is computed again afterwards") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  REQUIRE(f.hands.batches.size() == 1);
  f.session.set_paused(f.now, true, "somebody uses the computer");
  f.session.on_batch_done(f.now, Error{ErrorCode::unavailable, "the trainer was stopped"});
  CHECK(f.session.view(f.now).activity.phase == Phase::paused);
  CHECK(f.session.view(f.now).activity.reason == "somebody uses the computer");
  f.session.set_paused(f.now, false, "");
  REQUIRE(f.hands.batches.size() == 2);  // at once, without the patience that failures ask for
  CHECK(f.hands.batches[1].first == f.hands.batches[0].first);
}

TEST_CASE("a pause stops computing at once but a round under way is finished") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  auto planned = f.reply(0, digest(1));
  planned.group = f.group(0);
  f.session.on_heartbeat_reply(f.now, planned);
  f.batch_done();
  REQUIRE(f.hands.groups.size() == 1);
  f.session.set_paused(f.now, true, "paused by you");
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::averaged, {4, 6, 6}));
  f.session.on_step_done(f.now, digest(2));
  const std::size_t batches = f.hands.batches.size();
  CHECK(f.hands.recorded.size() == 1);
  CHECK(f.session.view(f.now).activity.phase == Phase::paused);
  f.session.on_timer(f.now + std::chrono::seconds(1));
  CHECK(f.hands.batches.size() == batches);
  f.session.set_paused(f.now, false, "");
  CHECK(f.hands.batches.size() == batches + 1);
}

TEST_CASE("a state that the swarm numbers anew is kept under its new number") {
  Fixture f({7, digest(1), {}});
  f.session.on_heartbeat_reply(f.now, f.reply(12, digest(1)));
  CHECK(f.session.view(f.now).state_round == 12);
  CHECK(f.hands.fetches.empty());
  CHECK(f.hands.batches.back().round == 12);
}

TEST_CASE("a late answer that knows less than this replica changes nothing") {
  Fixture f;
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  f.play_round(0, digest(2));
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  CHECK(f.session.view(f.now).synced);
  CHECK(f.session.view(f.now).state_round == 1);
}

TEST_CASE("the one asked to evaluate does so once and tells the figure") {
  Fixture f;
  auto reply = f.reply(0, digest(1));
  reply.evaluate = true;
  f.session.on_heartbeat_reply(f.now, reply);
  CHECK(f.hands.evaluations == 1);
  f.session.on_evaluated(f.now, Evaluation{2.5, 1000});
  f.session.on_timer(f.now + std::chrono::seconds(2));
  REQUIRE(f.hands.heartbeats.back().evaluation.has_value());
  CHECK(f.hands.heartbeats.back().evaluation->bits_per_byte == 2.5);
  f.session.on_heartbeat_reply(f.now, f.reply(0, digest(1)));
  f.session.on_timer(f.now + std::chrono::seconds(4));
  CHECK_FALSE(f.hands.heartbeats.back().evaluation.has_value());
}
