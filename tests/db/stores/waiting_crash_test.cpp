// Credit that waits, its voiding and checks of work, when the process is killed or the power goes at any moment.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "tests/db/stores/faulty_disk.h"
#include "tests/db/stores/fixture.h"
#include "tests/db/stores/ledger_load.h"
#include "tests/db/stores/victim.h"
#include "tests/support/suite_form.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::PostgresServer;
using starling::testing::TempDir;
using starling::testing::times;

namespace {

constexpr std::uint64_t kSeed = 20261128;

// Samples that are left of each round, by computer.
using Left = std::map<std::pair<RoundIndex, PeerId>, SampleCount>;
Left read_ledger(const Stores& stores, AccountId account) {
  Left left;
  for (Page page{.limit = kPageRowsMax};; page.offset += page.limit) {
    const auto entries = stores.training.contributions.entries_of(account, page).value();
    for (const LedgerEntry& entry : entries)
      left[{entry.round, entry.contribution.peer_id}] += entry.contribution.samples;
    if (entries.empty()) return left;
  }
}

// Rounds after which something was found out and stored as a check.
std::set<RoundIndex> stored_checks(const Stores& stores) {
  std::set<RoundIndex> rounds;
  for (Page page{.limit = kPageRowsMax};; page.offset += page.limit) {
    const auto checks = stores.credit.checks.list({kLoadRun, true, page}).value();
    for (const WorkCheck& check : checks) REQUIRE(rounds.insert(check.round).second);
    if (checks.empty()) return rounds;
  }
}

// The lies that are found out after the round, which are voided all at once. Those before `first` are final by then.
bool voided(const Left& left, RoundIndex round, RoundIndex first) {
  int gone = 0;
  int there = 0;
  for (RoundIndex lie = std::max(first, round - kFoundOutRounds); lie <= round; ++lie) {
    const auto line = left.find({lie, lying_peer()});
    if (line != left.end()) ++(line->second == 0 ? gone : there);
  }
  CHECK((gone == 0 || there == 0));
  return there == 0;
}

// All sums are right, and all that was acknowledged is there, once: of the rounds from `first` on.
void check_all(const Database& database, AccountId account, const std::set<std::int64_t>& acknowledged,
               RoundIndex first) {
  const Status sound = database.check();
  CHECK_MESSAGE(sound.ok(), (sound.ok() ? "" : sound.error().message));
  const Stores& stores = database.stores();
  const Left left = read_ledger(stores, account);
  const std::set<RoundIndex> checks = stored_checks(stores);
  CHECK(stores.credit.checks.sums(kLoadRun)->missed == static_cast<std::int64_t>(checks.size()));
  for (const std::int64_t written : acknowledged) {
    CAPTURE(written);
    if (written < 0) {
      CHECK(checks.contains(-1 - written));
    } else {
      const auto line = left.find({written, load_peer()});
      REQUIRE(line != left.end());
      CHECK(line->second == 1 + written % 7);
    }
  }
  for (const RoundIndex round : checks) {
    if (round >= first) CHECK(voided(left, round, first));  // it was voided before that was stored
  }
}

// Ten rounds with a voiding among them. False when the disk failed meanwhile.
bool write_rounds(const Stores& stores, AccountId account, std::set<std::int64_t>& acknowledged) {
  for (RoundIndex round = 0; round < 10; ++round) {
    if (!stores.training.contributions.append(waiting_round(account, round))) return false;
    acknowledged.insert(round);
    if (round == 0 || round % kFoundOutEvery != 0) continue;
    if (!stores.credit.corrections.void_pending(load_void(account, round))) return false;
    if (!stores.credit.checks.add(load_check(account, round))) return false;
    acknowledged.insert(-1 - round);
  }
  return true;
}

}  // namespace

TEST_CASE("pending credit, voidings and checks are whole after the power goes in any commit of them") {
  const std::int64_t calls_apart = times(15, 5);  // a commit is some forty calls of the disk
  bool done = false;
  int cuts = 0;
  for (; !done; ++cuts) {
    CAPTURE(cuts);
    TempDir dir;
    TempDir after;
    AccountId account = 0;
    std::set<std::int64_t> acknowledged;
    {
      FaultyDisk disk;
      DatabaseOptions options;
      options.vfs = FaultyDisk::vfs();
      options.ballast_bytes = 0;
      const auto database = open(dir / "a.db", options);
      account = prepare_load(database->stores()).value();
      disk.cut_power_at(1 + cuts * calls_apart, kSeed + static_cast<std::uint64_t>(cuts));
      done = write_rounds(database->stores(), account, acknowledged);
      disk.cut_power_now(kSeed);
      disk.restore(after.path());
    }
    const auto database = open(after / "a.db");
    check_all(*database, account, acknowledged, 0);
    if (cuts % 4 != 0) continue;
    // A process that goes on comes to the same end.
    std::set<std::int64_t> all;
    REQUIRE(write_rounds(database->stores(), account, all));
    check_all(*database, account, all, 0);
    CHECK(database->stores().credit.standings.credited(kLoadRun)->pending ==
          database->stores().credit.corrections.audit(kLoadRun, 10)->waiting);
  }
  CHECK(cuts > times(10, 30));
  MESSAGE(cuts << " moments");
}

TEST_SUITE_BEGIN("stores");

TEST_CASE("whenever the process is killed, what was acknowledged of pending credit, voidings and checks is there") {
  TempDir dir;
  const std::string url = server_url(dir / "a.db");
  const std::string where = url.empty() ? (dir / "a.db").string() : url;
  std::mt19937_64 random(kSeed);
  std::set<std::int64_t> acknowledged;
  for (int kill = 0; kill < times(5, 12); ++kill) {
    CAPTURE(kill);
    const RoundIndex first = kill * 1'000'000;
    Victim victim(where, first, "waits");
    victim.kill_after(static_cast<int>(random() % 200), acknowledged);
    const auto database = open(dir / "a.db");
    check_all(*database, prepare_load(database->stores()).value(), acknowledged, first);
  }
  CHECK(acknowledged.size() > 300);
  CHECK(*acknowledged.begin() < 0);
}

TEST_SUITE_END();
