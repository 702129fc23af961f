// Copies of the state that the coordinator keeps: the member that sends one, and when a run goes back to it.
#include <doctest/doctest.h>

#include "coordinator/core/checkpoint_turn.h"
#include "tests/coordinator/core/swarm_harness.h"

using namespace starling;
using namespace starling::core;
using namespace starling::core::testing;
using std::chrono::seconds;

namespace {

constexpr TimePoint kNow{seconds(1000)};

Digest digest(std::uint8_t n) {
  Digest digest;
  digest.bytes.fill(n);
  return digest;
}

wire::Checkpoint copy_of(RoundIndex round, const Digest& state) { return {round, state, {digest(200), 4000}}; }

wire::RunManifest copied_every(RoundIndex rounds) {
  wire::RunManifest manifest = small_manifest();
  manifest.checkpoint_rounds = rounds;
  return manifest;
}

}  // namespace

TEST_CASE("a copy is asked for every so many rounds, of one member at a time") {
  const CoordinatorOptions options;
  CheckpointTurn turn(10, std::nullopt);
  CHECK_FALSE(turn.ask(kNow, peer_id(1), 9, digest(9), options));
  CHECK(turn.ask(kNow, peer_id(1), 10, digest(10), options));
  CHECK_FALSE(turn.ask(kNow, peer_id(2), 10, digest(10), options));
  CHECK(turn.ask(kNow + seconds(1), peer_id(1), 10, digest(10), options));  // the answer may have been lost
  CHECK_FALSE(turn.ask(kNow + seconds(1), peer_id(1), 11, digest(11), options));
  CHECK(turn.heard(kNow + seconds(1), peer_id(2)) == nullptr);
  REQUIRE(turn.heard(kNow + seconds(20), peer_id(1)) != nullptr);
  CHECK_FALSE(turn.ask(kNow + seconds(49), peer_id(2), 14, digest(14), options));
  SUBCASE("of another one when nothing comes") {
    CHECK(turn.ask(kNow + seconds(50), peer_id(2), 14, digest(14), options));
    CHECK(turn.heard(kNow + seconds(51), peer_id(1)) == nullptr);
    CHECK(turn.heard(kNow + seconds(51), peer_id(2))->round == 14);
  }
  SUBCASE("again after as many rounds, and some time") {
    turn.kept(kNow + seconds(21), copy_of(10, digest(10)));
    CHECK_FALSE(turn.ask(kNow + seconds(100), peer_id(2), 19, digest(19), options));
    CHECK_FALSE(turn.ask(kNow + seconds(80), peer_id(2), 20, digest(20), options));
    CHECK(turn.ask(kNow + seconds(81), peer_id(2), 20, digest(20), options));
  }
  SUBCASE("later when the copy was no good") {
    turn.given_up(kNow + seconds(21), peer_id(1));
    CHECK_FALSE(turn.ask(kNow + seconds(80), peer_id(2), 20, digest(20), options));
    CHECK(turn.ask(kNow + seconds(81), peer_id(2), 20, digest(20), options));
  }
}

TEST_CASE("a member that had stepped before it heard of its turn is asked once more, for the state that it has") {
  const CoordinatorOptions options;
  CheckpointTurn turn(10, std::nullopt);
  CHECK(turn.ask(kNow, peer_id(1), 10, digest(10), options));
  SUBCASE("unless its copy is on the way") {
    REQUIRE(turn.heard(kNow + seconds(2), peer_id(1)) != nullptr);
    CHECK_FALSE(turn.ask(kNow + seconds(6), peer_id(1), 12, digest(12), options));
    CHECK(turn.heard(kNow + seconds(6), peer_id(1))->round == 10);
  }
  SUBCASE("after a while") {
    CHECK_FALSE(turn.ask(kNow + seconds(2), peer_id(1), 11, digest(11), options));
    CHECK(turn.ask(kNow + seconds(3), peer_id(1), 12, digest(12), options));
    CHECK(turn.ask(kNow + seconds(4), peer_id(1), 12, digest(12), options));
    CHECK_FALSE(turn.ask(kNow + seconds(9), peer_id(1), 13, digest(13), options));
    CHECK(turn.heard(kNow + seconds(9), peer_id(1))->round == 12);
  }
}

TEST_CASE("who was asked for a copy and has sent none is known until one is kept") {
  const CoordinatorOptions options;
  CheckpointTurn turn(10, std::nullopt);
  CHECK_FALSE(turn.has_failed(peer_id(1)));
  CHECK(turn.ask(kNow, peer_id(1), 10, digest(10), options));
  CHECK(turn.ask(kNow + seconds(30), peer_id(2), 11, digest(11), options));
  turn.given_up(kNow + seconds(31), peer_id(2));
  CHECK(turn.ask(kNow + seconds(91), peer_id(3), 14, digest(14), options));
  CHECK(turn.has_failed(peer_id(1)));
  CHECK(turn.has_failed(peer_id(2)));
  turn.kept(kNow + seconds(92), copy_of(14, digest(14)));
  for (const int number : {1, 2, 3}) CHECK_FALSE(turn.has_failed(peer_id(number)));
}

TEST_CASE("a run whose manifest wants no copies asks for none") {
  CheckpointTurn turn(0, std::nullopt);
  CHECK_FALSE(turn.ask(kNow, peer_id(1), 1000, digest(1), {}));
}

TEST_CASE("the member with the fast line sends the copy, of the state that the swarm agreed on") {
  Swarm swarm(copied_every(3));
  swarm.tells_lines = true;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40).line_bytes_per_s = i == 2 ? 10e6 : 1e6;
  swarm.run_for(seconds(10));
  REQUIRE(swarm.decided.size() > 3);
  CHECK_FALSE(swarm.coordinator->on_checkpoint_piece(swarm.now, peer_id(1)).has_value());
  CHECK_FALSE(swarm.coordinator->on_checkpoint_piece(swarm.now, peer_id(3)).has_value());
  const auto wanted = swarm.coordinator->on_checkpoint_piece(swarm.now, peer_id(2));
  REQUIRE(wanted.has_value());
  CHECK(wanted->round >= 3);
  CHECK(wanted->state_digest == swarm.decided[static_cast<std::size_t>(wanted->round - 1)].state_digest);
  CHECK(wanted->bytes > 0);
}

TEST_CASE("a run whose members are all gone goes on from the copy, and not from the beginning") {
  RecoveredRun recovered = running_run(100, digest(100));
  recovered.checkpoint = copy_of(90, digest(90));
  Swarm swarm(small_manifest(), recovered);
  VirtualMember& fresh = swarm.add(1, 40);
  swarm.run_for(seconds(50));
  CHECK(swarm.adopted.empty());  // a member that holds more may come back
  CHECK_FALSE(fresh.last_reply.kept.checkpoint.has_value());
  swarm.run_for(seconds(25));
  REQUIRE(swarm.adopted.size() == 1);
  CHECK(swarm.adopted[0].round == 100);
  CHECK(swarm.adopted[0].reported_round == 90);
  CHECK(swarm.adopted[0].state_digest == digest(90));
  CHECK(fresh.last_reply.state_digest == digest(90));
  REQUIRE(fresh.last_reply.kept.checkpoint.has_value());
  CHECK(fresh.last_reply.kept.checkpoint->file.sha256 == digest(200));
  swarm.run_for(seconds(100));
  CHECK(swarm.adopted.size() == 1);  // one is enough while it is loaded

  fresh.state = digest(90);
  fresh.state_round = 100;
  fresh.synced = true;
  fresh.train_on();
  swarm.add(2, 40);
  swarm.run_for(seconds(20));
  CHECK(swarm.member(2).synced);  // loaded from the other
  REQUIRE_FALSE(swarm.decided.empty());
  CHECK(swarm.decided.front().round == 100);
}

TEST_CASE("after a rollback all members that hold the given-up state do not bring it back, but go on from the copy") {
  RecoveredRun recovered = running_run(101, digest(90));  // rolled back at round 100
  recovered.checkpoint = copy_of(101, digest(90));
  recovered.states = {{90, digest(90)}, {101, digest(90)}};
  Swarm swarm(small_manifest(), recovered);
  for (int i = 1; i <= 3; ++i) {
    VirtualMember& member = swarm.add(i, 40);
    member.state = digest(100);
    member.state_round = 100;
  }
  swarm.run_for(seconds(200));
  CHECK(swarm.adopted.empty());
  CHECK(swarm.decided.empty());
  for (int i = 1; i <= 3; ++i) {
    VirtualMember& member = swarm.member(i);
    CHECK(member.last_reply.round == 101);
    CHECK(member.last_reply.state_digest == digest(90));
    REQUIRE(member.last_reply.kept.checkpoint.has_value());
    member.state = digest(90);
    member.state_round = 101;
    member.synced = true;
    member.train_on();
  }
  swarm.run_for(seconds(20));
  REQUIRE_FALSE(swarm.decided.empty());
  CHECK(swarm.decided.front().round == 101);
}

TEST_CASE("what a member holds counts more than an older copy") {
  RecoveredRun recovered = running_run(100, digest(100));
  recovered.checkpoint = copy_of(90, digest(90));
  recovered.states = {{95, digest(95)}};
  Swarm swarm(small_manifest(), recovered);
  VirtualMember& member = swarm.add(1, 40);
  member.state = digest(95);
  member.state_round = 95;
  swarm.run_for(seconds(20));
  REQUIRE(swarm.adopted.size() == 1);
  CHECK(swarm.adopted[0].state_digest == digest(95));
}

TEST_CASE("the last round's only member may come back with an older state than the copy") {
  RecoveredRun recovered = running_run(100, digest(100));
  recovered.checkpoint = copy_of(97, digest(97));
  recovered.states = {{0, digest(1)}, {97, digest(97)}};
  recovered.last_group.bytes.fill(7);
  recovered.last_credited.push_back({peer_id(1), 1001});
  Swarm swarm(small_manifest(), recovered);
  VirtualMember& member = swarm.add(1, 40);
  SUBCASE("the one that all begin with") {
    member.state = digest(1);
    member.state_round = 0;
  }
  SUBCASE("one that nobody else knows") {
    member.state = digest(90);
    member.state_round = 90;
  }
  swarm.run_for(seconds(90));
  REQUIRE(swarm.adopted.size() == 1);
  CHECK(swarm.adopted[0].state_digest == digest(97));
  CHECK(swarm.adopted[0].ground == StateAdopted::Ground::copy);
}
