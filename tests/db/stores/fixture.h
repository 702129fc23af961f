// Shared parts of the store tests: a database in a folder of its own, and people to put into it. If the environment has
// STARLING_TEST_POSTGRES, the database is on a server that was started for these tests, one for each file that a test
// names.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/stores/database.h"
#include "tests/support/postgres_server.h"
#include "tests/support/temp_dir.h"

namespace starling::db::testing {

inline PeerId peer(std::uint8_t number) {
  PeerId id;
  id.bytes.fill(number);
  return id;
}

inline Digest digest(std::uint8_t number) {
  Digest id;
  id.bytes.fill(number);
  return id;
}

// The address of the database that stands for `file`; empty: the file itself is used.
inline std::string server_url(const std::filesystem::path& file) {
  if (std::getenv("STARLING_TEST_POSTGRES") == nullptr) return "";
  static std::map<std::filesystem::path, std::string> urls;
  std::string& url = urls[file];
  if (url.empty()) url = starling::testing::PostgresServer::shared().create_database();
  return url;
}

inline std::unique_ptr<Database> open(const std::filesystem::path& file, DatabaseOptions options = {}) {
  options.create = true;
  options.commit_interval = from_ms(0);
  const std::string url = server_url(file);
  Result<std::unique_ptr<Database>> opened =
      url.empty() ? Database::open(file, options) : Database::connect(url, options);
  REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
  return std::move(opened).value();
}

inline AccountId join(const Stores& stores, const std::string& name, std::uint8_t number) {
  const Result<AccountId> account =
      stores.people.accounts.join({.display_name = name, .peer_id = peer(number), .invite = {}, .now = {1000}});
  REQUIRE_MESSAGE(account.ok(), (account.ok() ? "" : account.error().message));
  return *account;
}

inline void create_run(const Stores& stores, const RunId& run_id) {
  REQUIRE(stores.training.runs.create({run_id, "envelope", RunState::running, {1000}, 0}).ok());
}

inline RoundResult round_of(const RunId& run_id, RoundIndex round, std::vector<Contribution> contributions) {
  RoundResult result;
  result.record.run_id = run_id;
  result.record.round = round;
  result.record.decided_at = {2000 + round};
  result.record.survivors = static_cast<int>(contributions.size());
  for (const Contribution& line : contributions) result.record.samples += line.samples;
  result.contributions = std::move(contributions);
  return result;
}

constexpr WallTime kStart{1'718'000'000'000};

// A run "r" with a ledger for the test to fill, each line in a round of its own.
struct Ledger {
  starling::testing::TempDir dir;
  std::unique_ptr<Database> database = open(dir / "a.db");
  const Stores& stores = database->stores();
  RoundIndex round = 0;

  Ledger() { create_run(stores, "r"); }

  AccountId join_at(const std::string& name, std::uint8_t number, WallTime when = kStart) {
    return stores.people.accounts.join({name, peer(number), {}, when}).value();
  }
  void grant(AccountId account, std::uint8_t number, MicroCredit credit, WallTime when) {
    const auto done = stores.training.contributions.append(
        round_of("r", round++, {{peer(number), account, std::max<SampleCount>(1, credit / 1000), credit, when}}));
    REQUIRE(done->inserted == 1);
  }
};

}  // namespace starling::db::testing
