#include "coordinator/api/host_table.h"

#include <doctest/doctest.h>

#include "tests/coordinator/api/api_harness.h"

using namespace starling;
using namespace starling::api;
using namespace starling::api::testing;

TEST_CASE("an account's standing is what the operator says of it, once it is looked at again") {
  TestProject project;
  TestVolunteer ada(project, "Ada");
  const auto joined = ada.join(project.invite());
  REQUIRE(joined.ok());
  const AccountId account = joined->account_id;
  const HostTable hosts(project.stores().people.accounts, project.clock);
  const core::AccountStanding at_first = hosts.standing_of(account);
  CHECK_FALSE(at_first.established);
  CHECK(at_first.voice);  // the project has too few accounts to go by
  CHECK_FALSE(at_first.auditor);
  CHECK_FALSE(at_first.watched);
  const std::int64_t now = project.clock.wall_now().unix_ms;
  REQUIRE(project.stores().people.keeper.set_auditor(account, true).ok());
  REQUIRE(project.stores().people.keeper.watch(account, {now + 60'000}).ok());
  CHECK_FALSE(hosts.standing_of(account).auditor);  // known for half a minute
  hosts.look_again(account);
  CHECK(hosts.standing_of(account).auditor);
  CHECK(hosts.standing_of(account).established);
  CHECK(hosts.standing_of(account).watched);
  REQUIRE(project.stores().people.keeper.watch(account, {now}).ok());
  hosts.look_again(account);
  CHECK_FALSE(hosts.standing_of(account).watched);
}
