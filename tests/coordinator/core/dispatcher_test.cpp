#include "coordinator/core/dispatcher.h"

#include <doctest/doctest.h>

#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/core/run_parts.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Dispatching : RunParts {
  explicit Dispatching(const wire::RunManifest& manifest = small_manifest(), const CoordinatorOptions& options = {})
      : RunParts(manifest, options), dispatcher(settings, running_run()) {
    outlook.lead = milliseconds(200);
  }

  wire::HeartbeatReply answer(int number, const wire::Heartbeat& heartbeat) {
    Member& member = call(number, heartbeat);
    return dispatcher.answer(situation(), member, heartbeat, ops);
  }
  [[nodiscard]] Dispatcher::Situation situation() { return {now, run, members, credit, outlook}; }

  Dispatcher dispatcher;
  CreditBook credit;
  Outlook outlook;
  std::vector<StoreOp> ops;
};

}  // namespace

TEST_CASE("an answer says what is in work, and the account's durable credit") {
  Dispatching swarm;
  swarm.run.round = 7;
  swarm.credit.replace({{1001, 5000}});
  swarm.credit.add(6, {{1001, 20}});
  wire::Heartbeat beat = swarm.training();
  beat.samples_this_round = 12;
  const wire::HeartbeatReply reply = swarm.answer(1, beat);
  CHECK(reply.run_state == wire::RunState::running);
  CHECK(reply.round == 7);
  CHECK(reply.state_digest == swarm.run.canonical);
  CHECK(reply.swarm.samples_accumulated == 12);
  CHECK(reply.swarm.size == 1);
  CHECK(reply.credited.samples == 5000);
  CHECK(reply.credited.credit == doctest::Approx(credit_earned(1e9, 5000)));
  CHECK(reply.acknowledged_rounds == 6);  // the store has not taken round 6
  CHECK(swarm.member(1).told == milliseconds(reply.next_heartbeat_ms));
}

TEST_CASE("a void result is settled once all rounds before it are durable") {
  Dispatching swarm;
  swarm.run.round = 7;
  wire::Heartbeat ahead = swarm.training();
  ahead.state_round = 9;
  swarm.call(1, ahead).results.state = Results::State::voided;
  swarm.credit.add(6, {});
  CHECK(swarm.dispatcher.answer(swarm.situation(), swarm.member(1), ahead, swarm.ops).acknowledged_rounds == 6);
  swarm.credit.on_stored(6);
  CHECK(swarm.dispatcher.answer(swarm.situation(), swarm.member(1), ahead, swarm.ops).acknowledged_rounds == 9);
}

TEST_CASE("a member without the state is told who has it, unless it would load in vain") {
  Dispatching swarm;
  (void)swarm.call(2, swarm.training());
  const std::vector<wire::Endpoint> donors = swarm.answer(1, swarm.loading()).donors;
  REQUIRE(donors.size() == 1);
  CHECK(donors.front().peer == peer_id(2));
  CHECK(swarm.answer(2, swarm.training()).donors.empty());
  swarm.outlook.loads_in_vain = true;
  CHECK(swarm.answer(1, swarm.loading()).donors.empty());
  CHECK(Dispatcher::notice(swarm.situation(), swarm.member(1)).find("download") != std::string::npos);
}

TEST_CASE("the coordinator's own copy is offered while no member has proven that it holds the state") {
  Dispatching swarm;
  const wire::Checkpoint kept{0, swarm.run.canonical, {swarm.run.canonical, 4000}};
  swarm.dispatcher.checkpoint().kept(swarm.now, kept);
  CHECK(swarm.answer(1, swarm.loading()).kept.checkpoint.has_value());
  (void)swarm.call(2, swarm.training());
  CHECK(swarm.answer(1, swarm.loading()).kept.checkpoint.has_value());
  swarm.member(2).holding.verdict = Holding::Verdict::agreed;
  CHECK_FALSE(swarm.answer(1, swarm.loading()).kept.checkpoint.has_value());
}

TEST_CASE("a slow line does not send the copy while a faster one could") {
  wire::RunManifest manifest = small_manifest();
  manifest.checkpoint_rounds = 1;
  Dispatching swarm(manifest);
  swarm.run.round = 1;
  wire::Heartbeat slow = swarm.training();
  slow.upload_bytes_per_s = 1e5;
  wire::Heartbeat fast = swarm.training();
  fast.upload_bytes_per_s = 1e6;
  (void)swarm.call(2, fast);
  swarm.member(2).speeds.seen_upload = {1e6, 1e6, 1};
  CHECK_FALSE(swarm.answer(1, slow).send_checkpoint);
  CHECK(swarm.answer(2, fast).send_checkpoint);
  // It sends nothing, and others have the turn until a copy is kept.
  swarm.now += seconds(31);
  (void)swarm.call(1, slow);
  CHECK_FALSE(swarm.answer(2, fast).send_checkpoint);
  CHECK(swarm.answer(1, slow).send_checkpoint);
}

TEST_CASE("a line that only its owner calls fast keeps nobody from sending the copy") {
  wire::RunManifest manifest = small_manifest();
  manifest.checkpoint_rounds = 1;
  Dispatching swarm(manifest);
  swarm.run.round = 1;
  wire::Heartbeat honest = swarm.training();
  honest.upload_bytes_per_s = 1e5;
  wire::Heartbeat liar = swarm.training();
  liar.upload_bytes_per_s = 1e12;
  (void)swarm.call(2, liar);
  CHECK(swarm.answer(1, honest).send_checkpoint);
}

TEST_CASE("lines that only others have seen keep nobody from sending the copy") {
  wire::RunManifest manifest = small_manifest();
  manifest.checkpoint_rounds = 1;
  Dispatching swarm(manifest);
  swarm.run.round = 1;
  const wire::Heartbeat unmeasured = swarm.training();
  for (const int number : {1, 2}) {
    (void)swarm.call(number, unmeasured);
    swarm.member(number).speeds.seen_upload = {1e6, 1e6, 1};
  }
  CHECK(swarm.answer(1, unmeasured).send_checkpoint);
}

TEST_CASE("a member calls when there is something for it") {
  Dispatching swarm;
  swarm.run.rhythm.averaging = seconds(1);
  const auto next = [&](const wire::Heartbeat& beat) { return milliseconds(swarm.answer(1, beat).next_heartbeat_ms); };
  SUBCASE("the run is paused") {
    swarm.run.state = wire::RunState::paused;
    CHECK(next(swarm.training()) == seconds(1));
  }
  SUBCASE("it averages: at the end it calls by itself") {
    wire::Heartbeat beat = swarm.training();
    beat.phase = wire::MemberPhase::averaging;
    CHECK(next(beat) == seconds(2));
  }
  SUBCASE("the plan waits for it, or does not") {
    swarm.outlook.start = swarm.now + milliseconds(300);
    swarm.outlook.awaited = true;
    CHECK(next(swarm.training()) == milliseconds(2300));
    swarm.outlook.awaited = false;
    CHECK(next(swarm.training()) == milliseconds(1400));
  }
  SUBCASE("it has no state") { CHECK(next(swarm.loading()) == milliseconds(500)); }
  SUBCASE("the batch is full, and somebody is waited for") {
    swarm.outlook.full = swarm.now;
    CHECK(next(swarm.training()) == milliseconds(200));
  }
  SUBCASE("the batch will be full: between the freeze of the plan and its start") {
    swarm.outlook.full = swarm.now + seconds(1);
    const milliseconds told = next(swarm.training());
    CHECK(told > milliseconds(800));
    CHECK(told < seconds(1));
  }
  SUBCASE("it has more reports than fit into a call") {
    swarm.call(1, swarm.training()).results.more = true;
    CHECK(next(swarm.training()) == swarm.settings.options.heartbeats.min);
  }
}

TEST_CASE("a volunteer is told the worst that concerns it") {
  Dispatching swarm;
  Member& member = swarm.call(1, swarm.training());
  const auto notice = [&] { return Dispatcher::notice(swarm.situation(), member); };
  CHECK(notice().empty());
  member.standing.rounds = 3;
  member.standing.reliance = 0;
  const std::string standing = notice();
  CHECK(standing == explain(member.standing));
  CHECK_FALSE(standing.empty());
  member.left_out_until = swarm.now + seconds(1);
  CHECK(notice().find("line") != std::string::npos);
  for (std::size_t i = 0; i < kRoundsPendingMax; ++i) swarm.credit.add(static_cast<RoundIndex>(i), {});
  CHECK(notice().find("stored") != std::string::npos);
}

TEST_CASE("a member keeps its lane, and nobody gets one when all are in use") {
  wire::RunManifest manifest = small_manifest();
  manifest.peers_max = 2;
  Dispatching swarm(manifest);
  for (const int number : {1, 2}) {
    const auto assigned = swarm.dispatcher.admit(peer_id(number), 0, swarm.members);
    REQUIRE(assigned.ok());
    CHECK(assigned->has_value());
    Member& member = swarm.call(number, swarm.training());
    (void)swarm.dispatcher.on_call(swarm.now, swarm.members, member, swarm.training());
  }
  CHECK(swarm.member(1).lane != swarm.member(2).lane);
  CHECK_FALSE(swarm.dispatcher.admit(peer_id(1), 0, swarm.members)->has_value());
  const auto refused = swarm.dispatcher.admit(peer_id(3), 0, swarm.members);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
}

TEST_CASE("leases are dealt to members that train, and told once they are stored") {
  wire::RunManifest manifest = small_manifest();
  manifest.data.kind = wire::DataKind::labelled;
  manifest.data.train_items = 500;
  manifest.micro_batch_size = 4;
  Dispatching swarm(manifest);
  REQUIRE(swarm.dispatcher.leases() != nullptr);
  wire::Heartbeat beat = swarm.training();
  beat.process = 5;
  CHECK(swarm.answer(1, beat).leases.empty());
  REQUIRE(swarm.ops.size() == 1);
  const auto dealt = std::get<LeasesDealt>(swarm.ops.front());
  CHECK(dealt.peer == peer_id(1));
  CHECK(swarm.member(1).told == swarm.settings.options.heartbeats.min);  // it is called back for them
  swarm.dispatcher.leases()->on_stored(dealt);
  CHECK_FALSE(swarm.answer(1, beat).leases.empty());
}

TEST_CASE("leases reach no further than two calls of a member, at the speed that it is believed") {
  wire::RunManifest manifest = small_manifest();
  manifest.data.kind = wire::DataKind::labelled;
  manifest.data.train_items = 1'000'000;
  manifest.target_batch_size = 100'000;
  manifest.micro_batch_size = 4;
  Dispatching swarm(manifest);
  wire::Heartbeat beat = swarm.training(10);
  beat.process = 5;
  (void)swarm.answer(1, beat);
  REQUIRE(swarm.ops.size() == 1);
  SampleCount samples = 0;
  for (const wire::SampleLease& lease : std::get<LeasesDealt>(swarm.ops.front()).leases) samples += lease.count;
  CHECK(samples >= 2 * 10 * 10);  // calls are ten seconds apart at most
  CHECK(samples < 2 * 10 * 10 + 20);
}

}  // namespace starling::core::testing
