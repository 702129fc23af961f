// Who is named to all members as kept out.
#include "coordinator/api/deny_list.h"

#include <doctest/doctest.h>

#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

// Three members of a run, of three accounts.
struct Three : TestProject {
  Three() {
    REQUIRE(stores().training.runs.create(make_run("one", manifest_key, db::RunState::running)).ok());
    const std::string token = invite(3);
    for (TestVolunteer* volunteer : {&ada, &bob, &eve}) {
      REQUIRE(volunteer->join(token).ok());
      volunteer->beat.run_id = "one";
      volunteer->beat.listen_port = 4000;
    }
    REQUIRE(run().poll().ok());
  }
  void ban(db::BanKind kind, const std::string& subject, WallTime expires = db::kNoExpiry) {
    REQUIRE(stores().operation.bans.add({0, kind, subject, "a test", clock.wall_now(), expires}).ok());
    look();
  }
  [[nodiscard]] std::vector<PeerId> named() { return ada.call()->named.revoked; }

  TestVolunteer ada{*this, "Ada"};
  TestVolunteer bob{*this, "Bob"};
  TestVolunteer eve{*this, "Eve"};
};

}  // namespace

TEST_CASE("members hear which computers were revoked, until they are let in again") {
  Three project;
  project.look();
  CHECK(project.named().empty());
  db::AccountStore& accounts = project.stores().people.accounts;
  REQUIRE(accounts.set_revoked(project.eve.key.peer_id(), true, db::Revoker::project).ok());
  project.look();
  CHECK_FALSE(project.eve.call().ok());
  CHECK(project.named() == std::vector{project.eve.key.peer_id()});
  REQUIRE(accounts.set_revoked(project.eve.key.peer_id(), false, db::Revoker::project).ok());
  project.look();
  CHECK(project.named().empty());
}

TEST_CASE("computers of a banned account are named like a banned computer, while the ban lasts") {
  Three project;
  const auto eve = project.stores().people.accounts.find_host(project.eve.key.peer_id());
  REQUIRE(eve.ok());
  project.ban(db::BanKind::user, std::to_string(eve->account_id));
  CHECK(project.named() == std::vector{project.eve.key.peer_id()});
  project.ban(db::BanKind::host, project.bob.key.peer_id().hex());
  CHECK(project.named().size() == 2);
  project.ban(db::BanKind::user, std::to_string(eve->account_id), {project.clock.wall_now().unix_ms - 1});
  CHECK(project.named() == std::vector{project.bob.key.peer_id()});
}

TEST_CASE("a computer whose last certificate has expired is named no longer") {
  Three project;
  db::AccountStore& accounts = project.stores().people.accounts;
  const PeerId eve = project.eve.key.peer_id();
  REQUIRE(accounts.set_revoked(eve, true, db::Revoker::project).ok());
  const WallTime seen = accounts.find_host(eve)->last_seen;
  CHECK(accounts.revoked_since(seen, 10)->size() == 1);
  CHECK(accounts.revoked_since({seen.unix_ms + 1}, 10)->empty());
  CHECK(accounts.revoked_since(seen, 0)->empty());
}

}  // namespace starling::api::testing
