// Who may decide a round, through the store and back.
#include "coordinator/api/electorate_rows.h"

#include <doctest/doctest.h>

#include "coordinator/api/run_recovery.h"
#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

core::SeatedGroup two_columns() {
  core::SeatedGroup group;
  group.id.bytes.fill(7);
  group.round = 1;
  group.samples_max = 300;
  for (int column = 0; column < 2; ++column) {
    for (int rank = 0; rank < 3; ++rank) {
      PeerId peer;
      peer.bytes.fill(static_cast<std::uint8_t>(200 - 10 * column - rank));
      const auto role = rank == 2 ? wire::MemberRole::late : wire::MemberRole::full;
      if (group.columns.size() <= static_cast<std::size_t>(column)) group.columns.emplace_back();
      group.columns.back().push_back({peer, 10 * column + rank, role});
    }
  }
  return group;
}

struct Stored : TestProject {
  Stored() { REQUIRE(stores().training.runs.create(make_run("one", manifest_key, db::RunState::running)).ok()); }
  [[nodiscard]] core::RecoveredRun recovered() const {
    core::RecoveredRun run;
    const Status status = recover_electorate(stores().training, "one", run);
    REQUIRE_MESSAGE(status.ok(), (status.ok() ? "" : status.error().message));
    return run;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Stored, "a seated group comes back as it was") {
  const core::SeatedGroup group = two_columns();
  REQUIRE(stores().training.electorates.add("one", row_of(group), 0).ok());
  const core::RecoveredRun run = recovered();
  REQUIRE(run.groups.size() == 1);
  CHECK(run.groups[0] == group);
  CHECK(run.last_group.is_zero());
  CHECK(run.states.empty());
}

TEST_CASE_FIXTURE(Stored,
                  "the last decided round tells who was credited, and the rounds before it which states there were") {
  TestVolunteer ada(*this, "Ada");
  REQUIRE(ada.join(invite()).ok());
  const AccountId account = stores().people.accounts.find_host(ada.key.peer_id())->account_id;
  for (RoundIndex round = 0; round < 3; ++round) {
    db::RoundResult result;
    result.record = {"one", round, {}, clock.wall_now(), 5, state_of_round(round + 1), 1, 10, 0};
    result.record.group_id.bytes.fill(static_cast<std::uint8_t>(round + 1));
    result.contributions = {{ada.key.peer_id(), account, 5, 1, clock.wall_now()}};
    REQUIRE(stores().training.contributions.append(result).ok());
  }
  const core::RecoveredRun run = recovered();
  CHECK(run.last_group.bytes[0] == 3);
  REQUIRE(run.last_credited.size() == 1);
  CHECK(run.last_credited[0].account == account);
  REQUIRE(run.states.size() == 3);
  CHECK(run.states.front().round == 1);
  CHECK(run.states.front().state_digest == state_of_round(1));
  CHECK(run.states.back().round == 3);
}

TEST_CASE_FIXTURE(Stored, "states that were given up by a rollback are not the swarm's any more") {
  TestVolunteer ada(*this, "Ada");
  REQUIRE(ada.join(invite()).ok());
  const PeerId& peer = ada.key.peer_id();
  const AccountId account = stores().people.accounts.find_host(peer)->account_id;
  const auto decide = [&](RoundIndex round, std::int64_t rollbacks) {
    db::RoundResult result;
    result.record = {"one", round, {}, clock.wall_now(), 5, state_of_round(round + 1), 1, 10, 0};
    result.record.group_id.bytes.fill(static_cast<std::uint8_t>(round + 1));
    result.contributions = {{peer, account, 5, 1, clock.wall_now()}};
    result.rollbacks = rollbacks;
    REQUIRE(stores().training.contributions.append(result).ok());
  };
  for (RoundIndex round = 0; round < 4; ++round) decide(round, 0);
  const db::KeptCheckpoint copy{"one", 2, state_of_round(2), state_of_round(100), 7, peer, clock.wall_now()};
  REQUIRE(stores().training.checkpoints.keep(copy, 0).ok());
  REQUIRE(stores().training.runs.roll_back({"one", 2, clock.wall_now()}).ok());

  core::RecoveredRun run = recover_run(stores(), *stores().training.runs.find("one")).value();
  CHECK(run.round == 5);
  CHECK(run.state_digest == state_of_round(2));
  CHECK(run.last_group.is_zero());
  CHECK(run.last_credited.empty());
  CHECK(run.groups.empty());
  CHECK(run.checkpoint->state_digest == state_of_round(2));
  REQUIRE(run.states.size() == 3);
  CHECK(run.states[0].state_digest == state_of_round(1));
  CHECK(run.states[1].state_digest == state_of_round(2));
  CHECK(run.states[2].round == 5);
  CHECK(run.states[2].state_digest == state_of_round(2));

  decide(5, 1);
  run = recover_run(stores(), *stores().training.runs.find("one")).value();
  CHECK(run.round == 6);
  CHECK(run.state_digest == state_of_round(6));
  CHECK(run.last_group.bytes[0] == 6);
  CHECK(run.states.size() == 4);
}

TEST_CASE_FIXTURE(Stored, "a row that no coordinator writes is refused, by the name of its table") {
  db::SeatedGroup row = row_of(two_columns());
  row.seats[0].role = 99;
  REQUIRE(stores().training.electorates.add("one", row, 0).ok());
  core::RecoveredRun run;
  const Status status = recover_electorate(stores().training, "one", run);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == ErrorCode::corrupt);
  CHECK(status.error().message.find("table seat") != std::string::npos);
}

}  // namespace starling::api::testing
