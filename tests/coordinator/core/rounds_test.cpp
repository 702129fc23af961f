// The way of a healthy swarm from round to round.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "shared/run/model_layout.h"
#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SampleCount ledger_sum(const Swarm& swarm) {
  return std::accumulate(swarm.ledger.begin(), swarm.ledger.end(), SampleCount{0},
                         [](SampleCount sum, const auto& entry) { return sum + entry.second; });
}

SampleCount averaged_sum(const Swarm& swarm) {
  return std::accumulate(swarm.averaged.begin(), swarm.averaged.end(), SampleCount{0},
                         [](SampleCount sum, const auto& entry) { return sum + entry.second; });
}

// Three have been at work for ten seconds; the one that is returned joins them, and its download takes this long.
VirtualMember& join_three_at_work(Swarm& swarm, Duration download) {
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(10));
  VirtualMember& newcomer = swarm.add(4, 40);
  newcomer.state.bytes.fill(9);
  newcomer.download_takes = download;
  return newcomer;
}

}  // namespace

TEST_CASE("a swarm of three on fast rounds goes on, round after round, near its target") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);  // 120 samples a second: 60 in half a second
  swarm.run_for(seconds(5));
  const std::size_t warm = swarm.decided.size();
  const int calls_before = swarm.member(1).calls;
  const SampleCount before = ledger_sum(swarm);
  swarm.run_for(seconds(30));
  const std::size_t rounds = swarm.decided.size() - warm;
  // Half a second of training and 80 ms of averaging leave room for 51 rounds.
  CHECK(rounds >= 44);
  CHECK(rounds <= 52);
  const double batch = static_cast<double>(ledger_sum(swarm) - before) / static_cast<double>(rounds);
  CHECK(batch > 54);
  CHECK(batch < 70);
  const double calls = static_cast<double>(swarm.member(1).calls - calls_before) / static_cast<double>(rounds);
  CHECK_MESSAGE(calls <= 4.0, calls);
  for (const RoundDecided& round : swarm.decided) CHECK(round.contributions.size() == 3);
}

TEST_CASE("a slow round costs few calls and starts on time") {
  wire::RunManifest manifest = small_manifest();
  manifest.target_batch_size = 1200;  // 20 s at 60 samples a second
  Swarm swarm(manifest);
  for (int i = 1; i <= 3; ++i) swarm.add(i);
  swarm.run_for(seconds(90));
  REQUIRE(swarm.decided.size() >= 3);
  const std::size_t warm = swarm.decided.size();
  const int calls = swarm.member(2).calls;
  swarm.run_for(seconds(200));
  const auto rounds = static_cast<double>(swarm.decided.size() - warm);
  CHECK(rounds >= 9);
  CHECK(static_cast<double>(swarm.member(2).calls - calls) / rounds <= 5.0);
  for (std::size_t i = warm; i < swarm.decided.size(); ++i) {
    SampleCount batch = 0;
    for (const auto& contribution : swarm.decided[i].contributions) batch += contribution.samples;
    CHECK(batch >= 1180);
    CHECK(batch <= 1300);
  }
}

TEST_CASE("rounds whose gradients were computed during the last averaging follow each other at once") {
  Swarm swarm;  // a batch takes a second
  swarm.averaging_time = milliseconds(900);
  for (int i = 1; i <= 3; ++i) swarm.add(i).delays_updates = true;
  swarm.run_for(seconds(10));
  const std::size_t warm = swarm.decided.size();
  swarm.run_for(seconds(40));
  const auto rounds = static_cast<double>(swarm.decided.size() - warm);
  CHECK_MESSAGE(rounds > 40 / 1.35, rounds);  // one after the other: 1.9 s a round
  for (const RoundDecided& round : swarm.decided) CHECK(round.contributions.size() == 3);
}

TEST_CASE("members of very different speed each bring what they have") {
  Swarm swarm;
  swarm.add(1, 100);
  swarm.add(2, 10);
  swarm.add(3, 4);
  swarm.run_for(seconds(20));
  REQUIRE(swarm.decided.size() > 20);
  SampleCount fast = 0;
  SampleCount slow = 0;
  for (const auto& [key, samples] : swarm.ledger) {
    if (key.second == peer_id(1)) fast += samples;
    if (key.second == peer_id(3)) slow += samples;
  }
  CHECK(fast > 15 * slow);
  CHECK(slow > 0);
}

TEST_CASE("nobody waits for what a deferred member takes, and it is in every round with all it computed") {
  wire::RunManifest manifest = small_manifest();
  manifest.target_batch_size = 600;
  Swarm swarm(manifest);
  for (int i = 1; i <= 4; ++i) swarm.add(i, 10).line_bytes_per_s = 4000;
  swarm.member(4).line_bytes_per_s = 500;  // the vector's 4000 bytes take it eight seconds
  swarm.member(4).result_takes = seconds(8);
  swarm.run_for(seconds(120));
  REQUIRE(swarm.decided.size() >= 5);
  for (const RoundDecided& round : swarm.decided) CHECK(round.contributions.size() == 4);
  // 600 samples at 40 a second, and 8 seconds of one of the four lost.
  CHECK(swarm.decided.size() <= 8);
  CHECK(swarm.member(4).state_round + 1 >= swarm.member(1).state_round);
  CHECK(swarm.adopted.empty());
  SampleCount credited = 0;
  for (const auto& [key, samples] : swarm.ledger) credited += key.second == peer_id(4) ? samples : 0;
  CHECK(credited == swarm.averaged[peer_id(4)]);
  CHECK(credited > 0);
}

TEST_CASE("one whose line is too slow for the others' rounds is left out, told so, and holds up nobody") {
  wire::RunManifest manifest = small_manifest();
  manifest.target_batch_size = 90;  // three seconds' work of the three
  Swarm swarm(manifest);
  for (int i = 1; i <= 4; ++i) swarm.add(i, 10).line_bytes_per_s = 4000;
  swarm.member(4).line_bytes_per_s = 40;
  swarm.member(4).result_takes = seconds(16);
  swarm.run_for(seconds(60));
  CHECK(swarm.decided.size() >= 10);
  CHECK(swarm.member(4).last_reply.donors.empty());
  CHECK(swarm.member(4).last_reply.notice.find("too short") != std::string::npos);
}

TEST_CASE("a volunteer alone trains alone") {
  Swarm swarm;
  swarm.add(1, 60);
  swarm.run_for(seconds(20));
  CHECK(swarm.decided.size() >= 14);
  CHECK(ledger_sum(swarm) == averaged_sum(swarm));
}

TEST_CASE("the intervals of a large swarm stay within the budget of calls") {
  wire::RunManifest manifest = small_manifest();
  manifest.peers_max = 1000;
  manifest.target_batch_size = 20000;
  CoordinatorOptions options;
  options.heartbeats.per_s_max = 100;
  Swarm swarm(manifest, running_run(), options);
  for (int i = 0; i < 200; ++i) swarm.add(i + 1, 5);
  swarm.run_for(seconds(30));
  int calls = 0;
  for (int i = 0; i < 200; ++i) calls += swarm.member(i + 1).calls;
  swarm.run_for(seconds(60));
  int later = 0;
  for (int i = 0; i < 200; ++i) later += swarm.member(i + 1).calls;
  // Members also call of their own when a group starts and when they are done.
  CHECK(static_cast<double>(later - calls) / 60 < 130);
  CHECK(swarm.decided.size() >= 3);
}

TEST_CASE("a round is acknowledged when it is stored, not before") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(3));
  const std::size_t stored = swarm.decided.size();
  swarm.store_takes = false;
  swarm.run_for(seconds(5));
  CHECK(swarm.decided.size() == stored);
  const VirtualMember& member = swarm.member(1);
  CHECK(member.last_reply.round > static_cast<RoundIndex>(stored) + 3);  // serving goes on
  CHECK(member.last_reply.acknowledged_rounds == swarm.decided.back().round + 1);
  CHECK(member.reports.size() > 3);
  swarm.store_takes = true;
  swarm.run_for(seconds(2));
  CHECK(swarm.member(1).last_reply.acknowledged_rounds > member.last_reply.round - 2);
  CHECK(ledger_sum(swarm) >= averaged_sum(swarm) - 200);
}

TEST_CASE("a store that takes nothing for long stops the planning, and nothing is lost") {
  Swarm swarm;
  for (int i = 1; i <= 2; ++i) swarm.add(i, 120);
  swarm.store_takes = false;
  swarm.run_for(seconds(60));
  const RoundIndex round = swarm.member(1).last_reply.round;
  CHECK(round == static_cast<RoundIndex>(kRoundsPendingMax));
  swarm.run_for(seconds(5));
  CHECK(swarm.member(1).last_reply.round == round);
  CHECK(swarm.member(1).last_reply.notice.find("stored") != std::string::npos);
  swarm.store_takes = true;
  swarm.run_for(seconds(10));
  CHECK(swarm.member(1).last_reply.round > round + 5);
  CHECK(swarm.member(1).last_reply.notice.empty());
  swarm.coordinator->set_state(wire::RunState::paused);
  swarm.run_for(seconds(5));
  CHECK(ledger_sum(swarm) == averaged_sum(swarm));
}

TEST_CASE("a paused run plans nothing, and goes on when it is started again") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(5));
  swarm.coordinator->set_state(wire::RunState::paused);
  swarm.run_for(seconds(3));
  CHECK(swarm.member(1).last_reply.run_state == wire::RunState::paused);
  const std::size_t rounds = swarm.decided.size();
  swarm.run_for(seconds(5));
  CHECK(swarm.decided.size() == rounds);
  CHECK(ledger_sum(swarm) == averaged_sum(swarm));  // a started averaging was finished and credited
  swarm.coordinator->set_state(wire::RunState::running);
  swarm.run_for(seconds(5));
  CHECK(swarm.decided.size() > rounds + 4);
}

TEST_CASE("the run is complete after its last round") {
  wire::RunManifest manifest = small_manifest();
  manifest.rounds_max = 5;
  Swarm swarm(manifest);
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(15));
  CHECK(swarm.decided.size() == 5);
  CHECK(swarm.state == wire::RunState::complete);
  CHECK(swarm.member(1).last_reply.run_state == wire::RunState::complete);
  swarm.coordinator->set_state(wire::RunState::running);
  swarm.run_for(seconds(3));
  CHECK(swarm.decided.size() == 5);
  CHECK(swarm.member(3).reports.empty());
}

TEST_CASE("a newcomer fetches the state and is in the next rounds") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 10);
  swarm.run_for(seconds(10));
  swarm.add(4, 10);
  swarm.run_for(seconds(10));
  CHECK(swarm.decided.back().contributions.size() == 4);
}

TEST_CASE("a newcomer whose download outlasts several rounds gets in, and the others lose little") {
  Swarm swarm;
  VirtualMember& newcomer = join_three_at_work(swarm, seconds(4));
  const auto rounds_before = swarm.decided.size();
  swarm.run_for(seconds(60));
  CHECK(newcomer.synced);
  CHECK(swarm.decided.back().contributions.size() == 4);
  CHECK(swarm.decided.size() > rounds_before + 60);
}

TEST_CASE("who has computed nothing yet keeps no group waiting, but may come late") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  VirtualMember& starting = swarm.add(4, 40);
  const auto role_in_next_plan = [&] {
    while (swarm.member(1).group) swarm.run_for(milliseconds(5));
    while (!swarm.member(1).group) swarm.run_for(milliseconds(5));
    for (const wire::GroupMember& planned : swarm.member(1).group->members) {
      if (planned.endpoint.peer == starting.peer) return planned.role;
    }
    return wire::MemberRole::auxiliary;  // it is not there
  };
  starting.batch_seconds = 0;
  swarm.run_for(seconds(10));
  CHECK(role_in_next_plan() == wire::MemberRole::late);
  starting.batch_seconds = 0.05;
  swarm.run_for(seconds(3));
  CHECK(role_in_next_plan() == wire::MemberRole::full);
}

TEST_CASE("one that never gets the state holds up one round in many") {
  Swarm swarm;
  join_three_at_work(swarm, std::chrono::hours(1));
  const auto rounds_in_minutes = [&](int minutes) {
    const auto before = swarm.decided.size();
    swarm.run_for(std::chrono::minutes(minutes));
    return swarm.decided.size() - before;
  };
  CHECK(rounds_in_minutes(2) > 100);  // about 206 are possible
  CHECK(rounds_in_minutes(2) > 180);
}

TEST_CASE("a download that outlasts fifty rounds gets through, and is not begun in vain meanwhile") {
  Swarm swarm;
  VirtualMember& newcomer = join_three_at_work(swarm, seconds(30));
  const auto rounds_before = swarm.decided.size();
  swarm.run_for(seconds(60));  // five tries, the longest of 8 s, and one of 16
  CHECK_FALSE(newcomer.synced);
  CHECK(newcomer.last_reply.donors.empty());
  CHECK(newcomer.last_reply.notice.find("shorter than the model's download") != std::string::npos);
  const RoundIndex last_tried = newcomer.download_round;
  swarm.run_for(seconds(60));
  CHECK(newcomer.download_round == last_tried);
  swarm.run_for(std::chrono::minutes(8));
  CHECK(newcomer.synced);
  CHECK(swarm.decided.back().contributions.size() == 4);
  CHECK(swarm.decided.size() - rounds_before > 800);  // about 1030 are possible
}

TEST_CASE("who tells how fast its line is gets the time that its download takes, at once") {
  const wire::RunManifest manifest = small_manifest();
  Swarm swarm(manifest);
  const auto tells_its_line = [&](VirtualMember& newcomer) {
    const double seconds = to_seconds(newcomer.download_takes);
    newcomer.line_bytes_per_s = static_cast<double>(wire::state_size(manifest) * sizeof(float)) / seconds;
  };
  VirtualMember& newcomer = join_three_at_work(swarm, seconds(60));
  tells_its_line(newcomer);
  swarm.run_for(seconds(63));
  CHECK(newcomer.synced);
  const auto add_another = [&](int number) -> VirtualMember& {
    VirtualMember& another = swarm.add(number, 40);
    another.state.bytes.fill(8);
    another.download_takes = newcomer.download_takes;
    tells_its_line(another);
    return another;
  };
  // Such downloads get a twentieth of the time. The saved time has one more in it; the next one waits its turn.
  VirtualMember& second = add_another(5);
  swarm.run_for(std::chrono::minutes(3));
  CHECK(second.synced);
  VirtualMember& third = add_another(6);
  const auto rounds_before = swarm.decided.size();
  swarm.run_for(std::chrono::minutes(15));
  CHECK_FALSE(third.synced);
  CHECK(third.download_round == 0);
  CHECK(swarm.decided.size() - rounds_before > 1400);  // about 1550 are possible
  swarm.run_for(std::chrono::minutes(20));
  CHECK(third.synced);
}

TEST_CASE(
    "members that lose the state one after another, and load it for longer than is usual, are all back in a minute") {
  const wire::RunManifest manifest = small_manifest();
  Swarm swarm(manifest);
  VirtualMember& member = join_three_at_work(swarm, seconds(11));
  member.line_bytes_per_s = static_cast<double>(wire::state_size(manifest) * sizeof(float)) / 11;
  for (int time = 0; time < 4; ++time) {
    CAPTURE(time);
    swarm.run_for(seconds(20));
    CHECK(member.synced);
    member.state.bytes.fill(7);  // its process started again
    member.synced = false;
  }
}

TEST_CASE("donors are members that hold the state, and newcomers are spread over them") {
  Swarm swarm;
  for (int i = 1; i <= 20; ++i) swarm.add(i, 0.5);
  swarm.run_for(seconds(3));
  std::set<PeerId> first_donors;
  for (int i = 100; i < 110; ++i) {
    VirtualMember& newcomer = swarm.add(i);
    newcomer.state.bytes.fill(static_cast<std::uint8_t>(i));
    const auto decision = swarm.call(newcomer);
    REQUIRE(decision.reply.donors.size() == wire::kDonorsMax);
    first_donors.insert(decision.reply.donors.front().peer);
    newcomer.alive = false;
  }
  CHECK(first_donors.size() == 10);
}

TEST_CASE("members that claim absurd counts and rates neither silence the others nor skew what is expected of them") {
  wire::RunManifest manifest = small_manifest();
  manifest.target_batch_size = 1000;
  Swarm swarm(manifest);
  VirtualMember& honest = swarm.add(1);
  swarm.call(honest);
  honest.synced = true;
  honest.samples = 100;
  const auto claim = [&](int number) {
    VirtualMember& liar = swarm.add(number, wire::kMessageRateMax);
    swarm.call(liar);
    liar.synced = true;
    liar.samples = static_cast<double>(wire::kMessageCountMax);
    swarm.call(liar);
    liar.phase = wire::MemberPhase::leaving;
  };
  for (int number : {2, 3, 4}) claim(number);
  const auto reply = swarm.call(honest).reply;
  CHECK(wire::decode_heartbeat_reply(wire::encode(reply)).ok());
  for (int number : {2, 3, 4}) swarm.call(swarm.member(number));
  CHECK(swarm.call(honest).reply.swarm.samples_accumulated == 100);
}

TEST_CASE("what an account was credited for rides on every reply") {
  RecoveredRun recovered = running_run();
  recovered.credited = {{1000 + 1, 500}};
  Swarm swarm(small_manifest(), recovered);
  const auto decision = swarm.call(swarm.add(1));
  CHECK(decision.reply.credited.samples == 500);
  CHECK(decision.reply.credited.credit == doctest::Approx(1e9 * 500 * 200 / 86400e9));
  CHECK(credit_earned(86400e9 / 200, 3) == doctest::Approx(3.0));
}

}  // namespace starling::core::testing
