#include "client/session/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/swarm/successor.h"
#include "tests/client/session/session_fixture.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::session;

TEST_CASE("a session first asks the coordinator and trains nothing before it knows its state is the swarm's") {
  Fixture f;
  REQUIRE(f.hands.heartbeats.size() == 1);
  CHECK(f.hands.heartbeats[0].phase == wire::MemberPhase::joining);
  CHECK(f.hands.batches.empty());
  f.begin_training();
  REQUIRE(f.hands.batches.size() == 1);
  CHECK(f.hands.batches[0].lane == 3);
  CHECK(f.hands.batch_first[0]);
}

TEST_CASE("a challenge is answered in every heartbeat while the floats are here, for the state that it names") {
  Fixture f;
  CHECK_FALSE(f.hands.heartbeats.back().trust.holding.has_value());
  auto reply = f.reply(0, digest(1));
  reply.kept.challenge.bytes.fill(9);
  f.hear(reply);
  f.now += std::chrono::seconds(1);
  f.session.on_timer(f.now);
  const wire::Heartbeat& told = f.hands.heartbeats.back();
  REQUIRE(told.trust.holding.has_value());
  CHECK(told.trust.holding->challenge == reply.kept.challenge);
  CHECK(told.trust.holding->digest == Hands::proof_of(reply.kept.challenge, digest(1)));
  f.hands.can_prove = false;
  f.hear(reply);
  f.now += std::chrono::seconds(1);
  f.session.on_timer(f.now);
  CHECK(f.hands.heartbeats.size() == 3);
  CHECK_FALSE(f.hands.heartbeats.back().trust.holding.has_value());
}

TEST_CASE("batches of a round walk on through the lane's samples") {
  Fixture f;
  f.begin_training();
  f.batch_done();
  f.batch_done();
  REQUIRE(f.hands.batches.size() == 3);
  CHECK(f.hands.batches[1].first == 4);
  CHECK(f.hands.batches[2].first == 8);
  CHECK_FALSE(f.hands.batch_first[1]);
}

TEST_CASE("nobody computes more for a round than the others would believe") {
  Fixture f({0, digest(1), {}}, true, false, 13);
  f.begin_training();
  for (int i = 0; i < 3; ++i) f.batch_done();
  CHECK(f.session.view(f.now).samples_this_round == 12);
  CHECK(f.hands.batches.size() == 3);
  CHECK(f.session.view(f.now).activity.reason == "as much is computed here as a round takes");
  auto planned = f.reply(0, digest(1));
  planned.group = f.group(0);
  f.hear(planned);
  REQUIRE(f.hands.groups.size() == 1);
  CHECK(f.hands.weights[0] == 12);
  for (int i = 0; i < 3; ++i) f.batch_done();  // batches of the next one
  CHECK(f.hands.batches.size() == 6);
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::averaged, {12, 6, 6}));
  f.session.on_step_done(f.now, digest(2));
  CHECK(f.hands.batches.size() == 6);
  CHECK(f.session.view(f.now).samples_this_round == 12);
}

TEST_CASE("a round is trained, averaged, stepped and reported") {
  Fixture f;
  f.begin_training();
  f.batch_done();
  auto planned = f.reply(0, digest(1));
  planned.group = f.group(0);
  f.session.on_timer(f.now + std::chrono::seconds(1));
  f.hear(planned);
  f.batch_done();  // the one that was under way
  REQUIRE(f.hands.groups.size() == 1);
  CHECK(f.hands.weights[0] == 8);
  f.session.set_line(0, 0, 0, {{peer(9), 70.0}, {peer(3), 50.0}, {peer(1), 60.0}});
  AveragingOutcome outcome = f.outcome(AveragingOutcome::Verdict::averaged, {8, 6, 0});
  outcome.faults = {{2, wire::Fault::absent}};
  f.session.on_averaged(f.now, outcome);
  REQUIRE(f.hands.steps.size() == 1);
  f.session.on_step_done(f.now, digest(2));
  REQUIRE(f.hands.recorded.size() == 1);
  const wire::RoundReport& report = f.hands.recorded[0];
  CHECK(report.round == 0);
  CHECK(report.members.size() == 3);
  CHECK(report.contributions.size() == 2);  // nothing came from the third
  REQUIRE(report.complaints.size() == 1);
  CHECK(report.complaints[0].peer == report.members[2]);
  CHECK(report.complaints[0].fault == wire::Fault::absent);
  REQUIRE(report.received.size() == 1);  // the group's members alone
  CHECK(report.received[0].member == 2);
  CHECK(report.received[0].bytes_per_s == 50);
  CHECK(report.state_digest == digest(2));
  CHECK(f.session.view(f.now).state_round == 1);
  CHECK(f.hands.batches.back().round == 1);
  CHECK(f.hands.batch_first.back());
}

TEST_CASE("reports are told again until they are acknowledged") {
  Fixture f;
  f.begin_training();
  f.play_round(0, digest(2));
  f.hear(f.reply(0, digest(1)));  // answers the call that was under way
  REQUIRE(!f.hands.heartbeats.back().reports.empty());
  f.hear_nothing();
  f.session.on_timer(f.now + std::chrono::seconds(10));
  CHECK(f.hands.heartbeats.back().reports.size() == 1);
  auto acknowledged = f.reply(1, digest(2));
  acknowledged.acknowledged_rounds = 1;
  f.hear(acknowledged);
  CHECK(f.hands.forgotten == 1);
  CHECK(f.session.view(f.now).reports_waiting == 0);
}

TEST_CASE("a plan in a codec that this version does not have is not followed, and one that can be run still is") {
  Fixture f;
  f.begin_training();
  for (const bool of_member : {false, true}) {
    wire::GroupInfo group = f.group(0);
    (of_member ? group.members[2].codec : group.codec) = "zip";
    auto planned = f.reply(0, digest(1));
    planned.group = group;
    f.hear(planned);
    f.batch_done();
  }
  CHECK(f.hands.groups.empty());
  CHECK(f.hands.batches.size() == 3);  // it trains on
  f.begin_averaging();
  CHECK(f.hands.groups.size() == 1);
}

TEST_CASE("a plan that cannot be run is not followed: doubled members, parts that are no whole, limits passed") {
  using Damage = void (*)(wire::GroupInfo&);
  const Damage damages[] = {
      [](wire::GroupInfo& group) { group.members[2].endpoint.peer = group.members[1].endpoint.peer; },
      [](wire::GroupInfo& group) { group.members.push_back(group.members[0]); },  // this member
      [](wire::GroupInfo& group) { group.members[0].part_floats += 1; },
      [](wire::GroupInfo& group) { group.members[0].part_floats -= 1; },
      [](wire::GroupInfo& group) { group.members[0].part_floats = -1; },
      [](wire::GroupInfo& group) { group.segment_floats = 0; },
      [](wire::GroupInfo& group) { group.begin_within_ms = -1; },
      [](wire::GroupInfo& group) { group.members[1].endpoint.port = 70000; },
  };
  Fixture f;
  f.begin_training();
  for (const Damage damage : damages) {
    auto planned = f.reply(0, digest(1));
    planned.group = f.group(0);
    REQUIRE(wire::check_group(*planned.group).ok());
    damage(*planned.group);
    f.hear(planned);
    f.batch_done();
  }
  CHECK(f.hands.groups.empty());
  CHECK(f.hands.batches.size() == 1 + std::size(damages));  // it trains on
  f.begin_averaging();
  CHECK(f.hands.groups.size() == 1);
}

TEST_CASE("a coordinator that sends such plans all the time does not fill the log") {
  const testing::TempDir dir;
  const std::string file = (dir / "a.log").string();
  init_logging({.to_stderr = false, .file = file});
  Fixture f;
  f.begin_training();
  for (int i = 0; i < 500; ++i) {
    auto planned = f.reply(0, digest(1));
    planned.group = f.group(0);
    planned.group->segment_floats = 0;
    f.hear(planned);
  }
  flush_logs();
  init_logging({});
  const std::string log = read_file(file, 1 << 16).value();
  CHECK(log.find("plan is refused") != std::string::npos);
  CHECK(std::count(log.begin(), log.end(), '\n') == 1);
}

TEST_CASE("a plan for another round, another run, another state, or without this member is not followed") {
  Fixture f;
  f.begin_training();
  const auto hear_plan = [&f](const wire::GroupInfo& group) {
    auto planned = f.reply(0, digest(1));
    planned.group = group;
    f.hear(planned);
    f.batch_done();
  };
  wire::GroupInfo other_round = f.group(1);
  other_round.state_digest = digest(1);
  hear_plan(other_round);
  wire::GroupInfo other_run = f.group(0);
  other_run.run_id = "other";
  hear_plan(other_run);
  wire::GroupInfo other_state = f.group(0);
  other_state.state_digest = digest(5);
  hear_plan(other_state);
  hear_plan(f.group(0, {2, 3}));
  CHECK(f.hands.groups.empty());
  hear_plan(f.group(0));
  CHECK(f.hands.groups.size() == 1);
}

// One round with the coordinator, then it is away until the members meet on their own.
void play_into_autonomy(Fixture& f) {
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

TEST_CASE("while the coordinator is away for a minute round follows round, and it hears of all of them") {
  Fixture f;
  play_into_autonomy(f);
  const TimePoint back = f.now + std::chrono::seconds(60);
  std::uint8_t state = 2;
  while (f.now < back) {
    const std::size_t groups = f.hands.groups.size();
    f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::averaged, {4, 6, 6}));
    f.session.on_step_done(f.now, digest(++state));
    f.now += std::chrono::seconds(1);
    f.session.on_timer(f.now);
    f.hear_nothing();
    f.batch_done();
    REQUIRE(f.hands.groups.size() == groups + 1);
  }
  const auto rounds = static_cast<std::int64_t>(f.hands.recorded.size());
  CHECK(rounds > 60);
  CHECK(f.session.view(f.now).coordinator_away);
  CHECK(f.session.view(f.now).reports_waiting == f.hands.recorded.size());

  f.session.on_timer(f.now + std::chrono::seconds(10));
  REQUIRE(!f.hands.heartbeats.back().reports.empty());
  CHECK(f.hands.heartbeats.back().reports.front().round == 0);
  auto reply = f.reply(rounds, digest(state));
  reply.acknowledged_rounds = rounds;
  f.hear(reply);
  CHECK_FALSE(f.session.view(f.now).coordinator_away);
  CHECK(f.session.view(f.now).reports_waiting == 0);
  CHECK(f.session.view(f.now).synced);
}

TEST_CASE("an averaging that waited long for somebody does not slow the rounds after it down") {
  Fixture f;
  play_into_autonomy(f);
  f.now += std::chrono::seconds(60);
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::averaged, {4, 6, 0}));
  f.session.on_step_done(f.now, digest(3));
  CHECK(f.hands.groups.size() == 2);
  f.now += std::chrono::seconds(1);  // 16 samples/s bring the batch of 16
  f.batch_done();
  CHECK(f.hands.groups.size() == 3);
}

TEST_CASE("a replica that was loaded anew does not meet the group of its old state without the coordinator") {
  Fixture f;
  f.begin_training();
  f.play_round(0, digest(2));
  f.hear(f.reply_with_donor(1, digest(7)));  // the coordinator counted another result
  f.batch_done();
  REQUIRE(f.hands.fetches.size() == 1);
  f.session.on_state_fetched(f.now, 1, digest(7), Status());
  const std::size_t groups = f.hands.groups.size();
  f.miss_coordinator(6);
  CHECK(f.hands.groups.size() == groups);
}

TEST_CASE("a round that was called off is tried again with the same samples, and the coordinator hears of it") {
  Fixture f;
  f.begin_training();
  f.begin_averaging();
  AveragingOutcome outcome = f.outcome(AveragingOutcome::Verdict::called_off, {4, 0, 0});
  outcome.faults = {{1, wire::Fault::nonsense}};
  wire::Seal seal;
  seal.rank = 1;
  outcome.proofs = {{seal, seal}};
  f.session.on_averaged(f.now, outcome);
  CHECK(f.hands.steps.empty());
  CHECK_FALSE(f.hands.batch_first.back());  // its samples are kept
  f.batch_done();
  f.hear(f.reply(0, digest(1)));  // to the call that told the trainer's speed
  const std::vector<wire::RoundTrouble> troubles = f.hands.heartbeats.back().trust.troubles;
  REQUIRE(troubles.size() == 1);
  CHECK(troubles[0].round == 0);
  REQUIRE(troubles[0].complaints.size() == 1);
  CHECK(troubles[0].complaints[0].fault == wire::Fault::nonsense);
  REQUIRE(troubles[0].proofs.size() == 1);
  CHECK(troubles[0].proofs[0].owner == troubles[0].complaints[0].peer);
}

TEST_CASE("a minority of its group does not step: it trains on and waits for the next plan") {
  Fixture f;
  f.begin_training();
  f.begin_averaging();
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::minority, {4, 0, 0}));
  CHECK(f.hands.steps.empty());
  CHECK(f.hands.recorded.empty());
  REQUIRE(f.hands.batches.size() == 2);
  CHECK_FALSE(f.hands.batch_first.back());  // its samples are kept
  CHECK(f.hands.batches.back().first == 4);
  SUBCASE("the coordinator plans again with those who are left") {
    f.begin_averaging({1, 2});
    REQUIRE(f.hands.weights.size() == 2);
    CHECK(f.hands.weights[1] == 8);
  }
  SUBCASE("the coordinator still speaks of that group: it does not enter it with more samples than it had said") {
    f.begin_averaging();
    CHECK(f.hands.weights.size() == 1);
  }
  SUBCASE("the others went on: it loads their state") {
    f.hear(f.reply_with_donor(1, digest(7)));
    f.batch_done();
    CHECK(f.hands.fetches.size() == 1);
  }
  SUBCASE("the coordinator is away: it does not meet on its own") {
    f.miss_coordinator(5);
    CHECK(f.hands.groups.size() == 1);
  }
}

TEST_CASE("a gradient that is not finite is passed over; other failures repeat the batch") {
  Fixture f;
  f.begin_training();
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

TEST_CASE("whose trainer has ended tells no batch's time until another one has computed") {
  Fixture t;
  t.begin_training();
  t.batch_done();
  const auto told = [&t] {
    t.hear(t.reply(0, digest(1)));
    t.session.tell_soon(t.now);
    return t.hands.heartbeats.back().batch_seconds;
  };
  CHECK(told() > 0);
  t.session.on_batch_done(t.now, Error{ErrorCode::unavailable, "the trainer was killed"});
  CHECK(told() == 0);
  t.now += std::chrono::seconds(30);
  t.session.on_timer(t.now);
  t.batch_done();
  CHECK(told() > 0);
}

TEST_CASE("the coordinator hears of a trainer's speed as soon as there is one, and then when it wants to") {
  Fixture t;
  t.begin_training();
  CHECK(t.hands.heartbeats.size() == 1);
  CHECK(t.hands.heartbeats.back().batch_seconds == 0);
  t.batch_done();
  REQUIRE(t.hands.heartbeats.size() == 2);
  CHECK(t.hands.heartbeats.back().batch_seconds > 0);
  t.hear(t.reply(0, digest(1)));
  t.batch_done();
  CHECK(t.hands.heartbeats.size() == 2);
  t.now += std::chrono::seconds(1);
  t.session.on_timer(t.now);
  CHECK(t.hands.heartbeats.size() == 3);
}

TEST_CASE("a volunteer's speed is of the mean of its batches' times, as long as they were waited for") {
  Fixture t;
  t.begin_training();
  t.batch_done();  // the trainer's first, which took a while to start: 0.1 s of computing for 4 samples
  CHECK(t.session.view(t.now).samples_per_s == doctest::Approx(40));
  for (int i = 0; i < 400; ++i) {
    t.now += std::chrono::milliseconds(i % 2 == 0 ? 100 : 700);  // the processor was busy with something else
    t.batch_done();
  }
  CHECK(t.session.view(t.now).samples_per_s > 8);  // 10 in the mean; the mean of both speeds is 23
  CHECK(t.session.view(t.now).samples_per_s < 12);
}

TEST_CASE("a batch that a pause ends in the middle is no failure and is computed again afterwards") {
  Fixture f;
  f.begin_training();
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
  f.begin_training();
  f.begin_averaging();
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

TEST_CASE("the one asked to evaluate says that it does, does so once and tells the figure") {
  Fixture f;
  auto reply = f.reply(0, digest(1));
  reply.evaluate_round = 0;
  f.hear(reply);
  CHECK(f.hands.evaluations == 1);
  f.session.on_timer(f.now);
  CHECK(f.hands.heartbeats.back().phase == wire::MemberPhase::evaluating);
  f.hear(reply);  // the coordinator cannot know yet
  f.session.on_evaluated(f.now, Evaluation{2.5, 1000});
  f.session.on_timer(f.now + std::chrono::seconds(2));
  REQUIRE(f.hands.heartbeats.back().evaluation.has_value());
  CHECK(f.hands.heartbeats.back().phase == wire::MemberPhase::training);
  CHECK(f.hands.heartbeats.back().evaluation->bits_per_byte == 2.5);
  f.hear(f.reply(0, digest(1)));
  f.session.on_timer(f.now + std::chrono::seconds(4));
  CHECK_FALSE(f.hands.heartbeats.back().evaluation.has_value());
  f.hear(reply);  // from a coordinator that was started again
  f.session.on_timer(f.now + std::chrono::seconds(6));
  REQUIRE(f.hands.heartbeats.back().evaluation.has_value());
  CHECK(f.hands.heartbeats.back().evaluation->bits_per_byte == 2.5);
  CHECK(f.hands.evaluations == 1);
}

TEST_CASE("the state at the start of a later round is measured there, before anything is trained on it") {
  Fixture f;
  f.begin_training();
  f.session.tell_soon(f.now);
  auto reply = f.reply(0, digest(1));
  reply.evaluate_round = 1;
  f.hear(reply);
  CHECK(f.hands.evaluations == 0);
  const std::size_t batches = f.hands.batches.size();
  f.session.tell_soon(f.now);
  f.play_round(0, digest(2));
  CHECK(f.hands.evaluations == 1);
  CHECK(f.hands.batches.size() == batches);
  f.session.on_evaluated(f.now, Evaluation{2.5, 1000});
  CHECK(f.hands.batches.size() == batches + 1);
}

TEST_CASE("who can not measure the state says so, and trains on") {
  Fixture f;
  auto reply = f.reply(0, digest(1));
  reply.evaluate_round = 0;
  f.hear(reply);
  f.session.on_evaluated(f.now, Error{ErrorCode::internal, "no held-out data"});
  f.session.on_timer(f.now);
  REQUIRE(f.hands.heartbeats.back().evaluation.has_value());
  CHECK(f.hands.heartbeats.back().evaluation->bytes == 0);
  f.hear(reply);
  f.now += std::chrono::minutes(1);
  f.session.on_timer(f.now);
  CHECK(f.hands.evaluations == 1);
  CHECK(f.hands.batches.size() == 1);
}

TEST_CASE("a trainer that fails again and again is told to the volunteer and to the coordinator") {
  Fixture f;
  f.begin_training();
  const auto told = [&f] {
    f.hear(f.reply(0, digest(1)));  // the answer to a call that is under way
    f.now += std::chrono::seconds(31);
    f.session.on_timer(f.now);
    f.hear(f.reply(0, digest(1)));
    return f.hands.heartbeats.back().computing.failure;
  };
  CHECK(told().empty());
  for (int k = 0; k < 3; ++k) {
    f.session.on_batch_done(f.now, Error{ErrorCode::internal, "the program stopped"});
    f.now += std::chrono::seconds(2);
    f.session.on_timer(f.now);
  }
  CHECK(told() == "the program stopped");
  CHECK(f.session.view(f.now).trouble == "the program stopped");
  f.session.set_paused(f.now, true, "you paused");
  CHECK(told().empty());  // nothing fails then
  f.session.set_paused(f.now, false, "");
  f.batch_done();
  f.now += std::chrono::seconds(61);
  CHECK(told().empty());
  CHECK(f.session.view(f.now).trouble.empty());
}

TEST_CASE("a volunteer whose data is still on its way waits for it, and nothing has failed") {
  Fixture f;
  f.begin_training();
  f.session.on_batch_done(f.now, Error{ErrorCode::failed_precondition, "waiting for training data: 3 of 64 MB"});
  CHECK(f.session.view(f.now).activity.phase == Phase::waiting);
  CHECK(f.session.view(f.now).activity.reason == "waiting for training data: 3 of 64 MB");
}
