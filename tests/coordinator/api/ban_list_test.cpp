#include "coordinator/accounts/ban_list.h"

#include <doctest/doctest.h>

#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

using accounts::AddressRange;

// A project with a running run.
struct RunningProject : TestProject {
  RunningProject() {
    REQUIRE(stores().training.runs.create(make_run("one", manifest_key, db::RunState::running)).ok());
    REQUIRE(run().poll().ok());
  }
};

// Joins; returns the account.
AccountId join(TestProject& project, TestVolunteer& volunteer) {
  volunteer.beat.run_id = "one";
  volunteer.beat.phase = wire::MemberPhase::training;
  volunteer.beat.state_digest = state_of_round(0);
  volunteer.beat.listen_port = 4000;
  const auto reply = volunteer.join(project.invite());
  REQUIRE(reply.ok());
  return reply->account_id;
}

bool holds(const std::string& range, const std::string& address) {
  return AddressRange::parse(range)->holds(AddressRange::parse(address)->address);
}

// Bans a subject for an hour from now, or until the given moment.
void ban(TestProject& project, db::BanKind kind, const std::string& subject, std::int64_t from_now_ms = 3'600'000) {
  const WallTime now = project.clock.wall_now();
  REQUIRE(
      project.stores().operation.bans.add({0, kind, subject, "sends noise", now, {now.unix_ms + from_now_ms}}).ok());
  REQUIRE(project.bans.refresh().ok());
}

void lift_all(TestProject& project) {
  const auto bans = project.stores().operation.bans.list().value();
  for (const db::Ban& each : bans) REQUIRE(project.stores().operation.bans.remove(each.id).ok());
  REQUIRE(project.bans.refresh().ok());
}

void kept_out(const Result<wire::HeartbeatReply>& reply) {
  REQUIRE_FALSE(reply.ok());
  CHECK(reply.error().code == ErrorCode::permission_denied);
  CHECK(reply.error().message.find("sends noise") != std::string::npos);
}

}  // namespace

TEST_CASE("ranges hold the addresses that begin like them, IPv4 in IPv6 clothes too") {
  CHECK(holds("192.0.2.0/24", "192.0.2.255"));
  CHECK_FALSE(holds("192.0.2.0/24", "192.0.3.0"));
  CHECK(holds("192.0.2.128/25", "192.0.2.200"));
  CHECK_FALSE(holds("192.0.2.128/25", "192.0.2.100"));
  CHECK(holds("192.0.2.7", "192.0.2.7"));
  CHECK(holds("192.0.2.7", "::ffff:192.0.2.7"));
  CHECK_FALSE(holds("192.0.2.7", "192.0.2.6"));
  CHECK(holds("2001:db8::/32", "2001:db8:ffff::1"));
  CHECK_FALSE(holds("2001:db8::/32", "2001:db9::1"));
  CHECK(holds("0.0.0.0/0", "203.0.113.1"));
  CHECK_FALSE(holds("0.0.0.0/0", "2001:db8::1"));
  for (const char* wrong : {"", "/", "/8", "1.2.3", "1.2.3.4/", "1.2.3.4/33", "::/129", "1.2.3.4/-1", "1.2.3.4/8x"}) {
    CAPTURE(wrong);
    CHECK_FALSE(AddressRange::parse(wrong).ok());
  }
}

TEST_CASE("a banned account, computer or address is refused at its next heartbeat, and told why") {
  RunningProject project;
  TestVolunteer ada(project, "Ada");
  TestVolunteer bob(project, "Bob");
  const std::string account = std::to_string(join(project, ada));
  join(project, bob);
  REQUIRE(ada.call().ok());

  ban(project, db::BanKind::user, account);
  kept_out(ada.call());
  CHECK(bob.call().ok());
  lift_all(project);
  CHECK(ada.call().ok());

  ban(project, db::BanKind::host, bob.key.peer_id().hex());
  kept_out(bob.call());
  CHECK(ada.call().ok());
  lift_all(project);

  ban(project, db::BanKind::address, "127.0.0.0/8");
  kept_out(ada.call());
  TestVolunteer eve(project, "Eve");
  CHECK(eve.join(project.invite()).error().code == ErrorCode::permission_denied);
  lift_all(project);
  CHECK(eve.join(project.invite()).ok());
}

TEST_CASE("a ban that is over keeps nobody out, and one made again counts anew") {
  RunningProject project;
  TestVolunteer ada(project, "Ada");
  const std::string account = std::to_string(join(project, ada));
  ban(project, db::BanKind::user, account, -1);
  CHECK(ada.call().ok());
  ban(project, db::BanKind::user, account);
  kept_out(ada.call());
  CHECK(project.bans.size() == 1);
}

}  // namespace starling::api::testing
