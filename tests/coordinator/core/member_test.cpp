#include "coordinator/core/member.h"

#include <doctest/doctest.h>

#include "tests/coordinator/core/run_parts.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

TEST_CASE("members that averaged are assumed to hold the new state until they call, or do not") {
  RunParts swarm;
  for (const int number : {1, 2, 3}) (void)swarm.call(number, swarm.training());
  swarm.begin_round(state_after(swarm.run.canonical, group_id(1)));
  const TimePoint until = swarm.now + seconds(2);
  swarm.members.judge(swarm.now, swarm.run.canonical, {peer_id(1), peer_id(2)}, until);
  CHECK(swarm.member(1).holding.copy == Copy::assumed);
  CHECK(swarm.member(3).holding.copy == Copy::other);
  CHECK(swarm.members.forecast().samples_per_s() == doctest::Approx(40));
  CHECK(swarm.call(1, swarm.training()).ready());

  swarm.members.end_assumptions(until, swarm.run.canonical);
  CHECK(swarm.members.is_due(swarm.member(2), until));
  CHECK_FALSE(swarm.members.is_due(swarm.member(1), until));
  swarm.members.end_assumptions(until + milliseconds(1), swarm.run.canonical);
  CHECK(swarm.member(2).holding.copy == Copy::other);
  CHECK(swarm.members.forecast().samples_per_s() == doctest::Approx(20));
}

TEST_CASE("a member counts in the forecast while it holds the state, works, and calls in time") {
  RunParts swarm;
  CHECK(swarm.call(1, swarm.training()).counted.has_value());
  wire::Heartbeat elsewhere = swarm.training();
  elsewhere.state_digest = state_after(swarm.run.canonical, group_id(1));
  CHECK_FALSE(swarm.call(2, elsewhere).counted.has_value());
  wire::Heartbeat paused = swarm.training();
  paused.phase = wire::MemberPhase::paused;
  CHECK_FALSE(swarm.call(3, paused).counted.has_value());
  CHECK(swarm.members.forecast().samples_per_s() == doctest::Approx(20));
  swarm.now += seconds(2);
  swarm.members.forget_silent(swarm.now, seconds(3));
  CHECK_FALSE(swarm.member(1).counted.has_value());
  CHECK(swarm.members.forecast().samples_per_s() == 0);
}

TEST_CASE("the absences of a member that is gone are kept, so many of them and for so many rounds") {
  RunParts swarm;
  Member& member = swarm.call(1, swarm.training());
  member.away.last = 7;
  member.away.excused = {3, 7};
  member.away.stayed_away = true;
  SUBCASE("it has called on: until it comes, it has stayed away") {
    member.away.called_on = true;
    swarm.members.remove(peer_id(1));
    CHECK(swarm.call(1, swarm.training()).away.stayed_away);
  }
  SUBCASE("it fell silent") {
    swarm.now += seconds(5);
    swarm.members.forget_silent(swarm.now, seconds(3));
    CHECK(swarm.members.find(peer_id(1)) == nullptr);
    REQUIRE(swarm.members.absences_of(peer_id(1)) != nullptr);
    CHECK_FALSE(swarm.call(1, swarm.training()).away.stayed_away);
  }
  CHECK(swarm.member(1).away.excused == std::vector<RoundIndex>{3, 7});
  swarm.members.remove(peer_id(1));
  swarm.members.forget_gone(7);
  CHECK(swarm.members.absences_of(peer_id(1)) != nullptr);
  swarm.members.forget_gone(8);
  CHECK(swarm.members.absences_of(peer_id(1)) == nullptr);
  for (int number = 1; number <= 5000; ++number) {
    swarm.call(number, swarm.training()).away.last = number;
    swarm.members.remove(peer_id(number));
  }
  CHECK(swarm.members.gone().size() == 4096);
  CHECK(swarm.members.absences_of(peer_id(1)) == nullptr);
  CHECK(swarm.members.absences_of(peer_id(5000)) != nullptr);
}

TEST_CASE("a member that averages is kept as long as its group may wait for a call of it that is lost") {
  RunParts swarm;
  wire::Heartbeat averaging = swarm.training();
  averaging.phase = wire::MemberPhase::averaging;
  (void)swarm.call(1, averaging);
  (void)swarm.call(2, swarm.training());
  const Patience patience;
  swarm.now += seconds(1) + patience.quorum;
  swarm.members.forget_silent(swarm.now, seconds(3), patience);
  CHECK(swarm.members.find(peer_id(1)) != nullptr);
  CHECK(swarm.members.find(peer_id(2)) == nullptr);
  swarm.now += milliseconds(1);
  swarm.members.forget_silent(swarm.now, seconds(3), patience);
  CHECK(swarm.members.find(peer_id(1)) == nullptr);
}

TEST_CASE(
    "a member counts for little more than it was credited with, whatever it says, and a newcomer for a usual one") {
  RunParts swarm;
  for (const int number : {1, 2, 3}) (void)swarm.call(number, swarm.training());  // each says 20 a second
  swarm.begin_round(state_after(swarm.run.canonical, group_id(1)));
  swarm.members.judge(swarm.now, swarm.run.canonical, {}, swarm.now);
  const std::vector<wire::Contribution> credited = {{peer_id(1), 20}, {peer_id(2), 20}, {peer_id(3), 20}};
  swarm.members.note_credit(credited, seconds(1));
  wire::Heartbeat boast = swarm.training();
  boast.samples_per_s = 1e6;
  boast.samples_this_round = 1'000'000;
  const auto counted = [&](int number) { return *swarm.call(number, boast).counted; };
  CHECK(counted(1).per_s <= 40 + 1e-9);
  CHECK(counted(1).samples <= 40);
  CHECK(counted(4).per_s <= 20 + 1e-9);
  CHECK(counted(2).per_s > 20);  // it may have become faster
  swarm.now += seconds(10);      // the round takes ten times as long as usual: rates are not what they were
  CHECK(counted(3).per_s > 1000);
}

TEST_CASE("a member is believed by what it was credited with, and a fast newcomer within a few rounds") {
  RunParts swarm;
  for (const int number : {1, 2, 3}) (void)swarm.call(number, swarm.training());
  const auto believed = [&](int number, Duration in) {
    return swarm.members.samples_max(swarm.member(number), swarm.now + in, 4);
  };
  CHECK(believed(1, seconds(1)) == kMemberSamplesMax);  // nobody was credited
  const auto next_round = [&](SampleCount fast) {
    const std::vector<wire::Contribution> credited = {{peer_id(1), 20}, {peer_id(2), 20}, {peer_id(3), fast}};
    swarm.members.note_credit(credited, seconds(1));
    swarm.members.judge(swarm.now, swarm.run.canonical, {}, swarm.now);
  };
  next_round(0);
  CHECK(believed(1, seconds(0)) == 40 / 2 + 8);  // twice its rate, for what half a round may have computed ahead
  CHECK(believed(1, seconds(2)) == 40 * 5 / 2 + 8);
  CHECK(believed(3, seconds(1)) == 40 * 3 / 2 + 8);  // like a usual one
  constexpr SampleCount kFast = 200;                 // ten times a usual one's
  int rounds = 0;
  while (believed(3, seconds(1)) < kFast && ++rounds < 10) next_round(std::min(kFast, believed(3, seconds(1))));
  CHECK(rounds == 2);
  for (int i = 0; i < 8; ++i) next_round(kFast);
  for (int i = 0; i < 5; ++i) next_round(1);  // busy with something else
  CHECK(believed(3, seconds(1)) > kFast);
  // Who always claims all that it is believed comes to some usual ones, and doubles that in minutes.
  for (int i = 0; i < 30; ++i) next_round(believed(3, seconds(1)));
  CHECK(believed(3, seconds(1)) > 16 * 20 * 3 / 2);
  CHECK(believed(3, seconds(1)) < 16 * 20 * 3 / 2 * 1.1);
}

TEST_CASE("members whose trainers fail are counted among those that should compute, with what most of them say") {
  RunParts swarm;
  const auto failing = [&swarm](const char* why) {
    wire::Heartbeat beat = swarm.training();
    beat.computing.failure = why;
    return beat;
  };
  CHECK(failing_text(swarm.members.failing()).empty());
  (void)swarm.call(1, failing("no tensor 'labels'"));
  CHECK(swarm.members.failing().all());
  CHECK(failing_text(swarm.members.failing()) ==
        "the trainer of the only computer that should train fails: no tensor 'labels'");
  (void)swarm.call(2, failing("out of memory"));
  (void)swarm.call(3, failing("no tensor 'labels'"));
  wire::Heartbeat paused = failing("of before");
  paused.phase = wire::MemberPhase::paused;
  (void)swarm.call(4, paused);
  CHECK(failing_text(swarm.members.failing()) == "the trainers of all 3 computers fail: no tensor 'labels'");
  (void)swarm.call(2, swarm.training());
  CHECK_FALSE(swarm.members.failing().all());
  CHECK(failing_text(swarm.members.failing()) == "the trainers of 2 of 3 computers fail: no tensor 'labels'");
  (void)swarm.call(1, swarm.training());
  (void)swarm.call(3, swarm.training());
  CHECK(swarm.members.failing().count == 0);
}

TEST_CASE("what members compute on is summed up by device, the most frequent first, and is bounded") {
  RunParts swarm;
  const auto on = [&swarm](wire::ComputeDevice device) {
    wire::Heartbeat beat = swarm.training();
    beat.computing.device = std::move(device);
    return beat;
  };
  using Lines = std::vector<std::string>;
  CHECK(device_lines(swarm.members.devices()).empty());
  (void)swarm.call(1, swarm.training());
  CHECK(swarm.members.device_sums() == DeviceSums{0, 0, 1});
  CHECK(device_lines(swarm.members.devices()) == Lines{"1 computer: not told yet, or the program is older than that"});
  const wire::ComputeDevice card{.kind = "cuda", .name = "NVIDIA A40", .memory_bytes = 48'000'000'000};
  wire::ComputeDevice processor{.kind = "cpu", .name = "Z80", .memory_bytes = 8'000'000'000, .card_unused = "no CUDA"};
  (void)swarm.call(1, on(card));
  (void)swarm.call(2, on(processor));
  processor.memory_bytes = 4'000'000'000;
  (void)swarm.call(3, on(processor));
  wire::Heartbeat paused = on(card);
  paused.phase = wire::MemberPhase::paused;
  (void)swarm.call(4, paused);
  CHECK(swarm.members.device_sums() == DeviceSums{2, 1, 0});
  CHECK(device_lines(swarm.members.devices()) ==
        Lines{"2 computers: Z80, 4.0 GB memory; some have more memory; a graphics card is not used: no CUDA",
              "1 computer: NVIDIA A40, 48.0 GB memory"});
  for (int i = 0; i < 30; ++i) (void)swarm.call(5 + i, on({.kind = "cpu", .name = "no. " + std::to_string(i)}));
  const DevicesInUse devices = swarm.members.devices();
  CHECK(devices.alike.size() == kDevicesShownMax);
  CHECK(devices.alike.front().members == 2);
  CHECK(devices.others == 32 - static_cast<int>(kDevicesShownMax));
  CHECK(device_lines(devices).back() == "12 computers: further devices");
}

}  // namespace starling::core::testing
