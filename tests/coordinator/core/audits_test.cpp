// Audits in a run: what members are told, and who is refused. Rounds with audits are played in tests/sim.
#include <doctest/doctest.h>

#include "coordinator/core/audit_standing.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

wire::RunManifest audited_manifest() {
  wire::RunManifest manifest = small_manifest();
  manifest.round.audit_rate = 1.0 / 16;
  return manifest;
}

HeartbeatDecision call_with(Swarm& swarm, int number, const wire::ComputeDevice& device) {
  wire::Heartbeat beat;
  beat.run_id = "test";
  beat.phase = wire::MemberPhase::joining;
  beat.computing.device = device;
  const MemberIdentity who{peer_id(number), *swarm.hosts.account_of(peer_id(number)), "192.0.2.1"};
  return swarm.coordinator->on_heartbeat(swarm.now, swarm.wall, who, beat);
}

}  // namespace

TEST_CASE("plans of audited runs bind the coordinator, and plans of others do not") {
  for (const bool audited : {true, false}) {
    CAPTURE(audited);
    Swarm swarm(audited ? audited_manifest() : small_manifest());
    for (int i = 1; i <= 4; ++i) swarm.add(i);
    swarm.run_for(std::chrono::seconds(60));
    CHECK(swarm.decided.size() > 3);
    for (int i = 1; i <= 4; ++i) {
      const VirtualMember& member = swarm.member(i);
      REQUIRE(member.last_group);
      CHECK(member.last_group->audit_commitment.is_zero() != audited);
      CHECK(member.last_reply.kept.audits.checked.has_value() == audited);
    }
  }
}

TEST_CASE("no credit is final before a minute, however short rounds are") {
  wire::RunManifest manifest = audited_manifest();
  manifest.round.audit_rate = 1;  // 35 rounds
  Swarm swarm(manifest);
  for (int i = 1; i <= 4; ++i) swarm.add(i);
  swarm.run_for(std::chrono::seconds(180));
  REQUIRE(swarm.decided.size() > 70);
  bool is_later_than_rounds = false;
  for (const RoundDecided& decided : swarm.decided) {
    is_later_than_rounds |= decided.final_below < final_below(1, decided.round);
    for (const RoundDecided& earlier : swarm.decided) {
      if (earlier.round < decided.final_below) CHECK(earlier.wall.unix_ms + 60'000 <= decided.wall.unix_ms);
    }
  }
  CHECK(is_later_than_rounds);
  CHECK(swarm.decided.back().final_below > 0);
}

TEST_CASE("a program that is too old to be checked is told so, in audited runs alone, and is no liar") {
  wire::ComputeDevice old;
  old.kind = "cpu";
  wire::ComputeDevice recent = old;
  recent.platform = "linux x86_64";
  Swarm audited(audited_manifest());
  const HeartbeatDecision refused = call_with(audited, 1, old);
  REQUIRE(refused.refusal);
  CHECK(refused.refusal->code == ErrorCode::unsupported);
  CHECK(refused.refusal->message.find("needs Starling") != std::string::npos);
  CHECK_FALSE(call_with(audited, 1, recent).refusal);
  Swarm plain;
  CHECK_FALSE(call_with(plain, 1, old).refusal);
}

}  // namespace starling::core::testing
