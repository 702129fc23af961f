// Data that must survive a killed process, a power cut, a full and a failing disk, and a damaged file.
#include <doctest/doctest.h>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <random>
#include <set>
#include <string>

#include "db/sqlite/open.h"
#include "tests/db/stores/faulty_disk.h"
#include "tests/db/stores/fixture.h"
#include "tests/db/stores/ledger_load.h"
#include "tests/db/stores/victim.h"
#include "tests/support/suite_form.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::TempDir;
using starling::testing::times;

namespace {

constexpr std::uint64_t kSeed = 20240607;

std::set<RoundIndex> stored_rounds(const Stores& stores, AccountId account) {
  std::set<RoundIndex> rounds;
  for (Page page{.limit = kPageRowsMax, .offset = 0};; page.offset += kPageRowsMax) {
    const auto entries = stores.training.contributions.entries_of(account, page).value();
    for (const LedgerEntry& entry : entries) REQUIRE(rounds.insert(entry.round).second);
    if (entries.empty()) return rounds;
  }
}

// Checks that every total is right, and that every acknowledged round is in the ledger once.
void check_ledger(const Database& database, AccountId account, const std::set<RoundIndex>& acknowledged) {
  const Status sound = database.check();
  CHECK_MESSAGE(sound.ok(), (sound.ok() ? "" : sound.error().message));
  const std::set<RoundIndex> stored = stored_rounds(database.stores(), account);
  SampleCount samples = 0;
  for (const RoundIndex round : stored) samples += 1 + round % 7;
  CHECK(database.stores().training.contributions.ledger_sum(kLoadRun)->samples == samples);
  int lost = 0;
  for (const RoundIndex round : acknowledged) lost += stored.count(round) == 0 ? 1 : 0;
  CHECK(lost == 0);
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

DatabaseOptions on_faulty_disk() {
  DatabaseOptions options;
  options.vfs = FaultyDisk::vfs();
  options.ballast_bytes = 0;
  return options;
}

// Writes rounds until one fails; returns the acknowledged ones once every write has been answered: after a fatal error
// new writes are refused while old ones are still being reported.
std::set<RoundIndex> write_until_failure(Database& database, AccountId account, RoundIndex first, int rounds_max) {
  std::mutex mutex;
  std::condition_variable answered;
  std::set<RoundIndex> acknowledged;
  int unanswered = 0;
  bool failed = false;
  std::unique_lock lock(mutex);
  for (RoundIndex round = first; round < first + rounds_max && !failed; ++round) {
    ++unanswered;
    lock.unlock();
    const auto done = [&, round](const Result<AppendOutcome>& outcome) {
      const std::scoped_lock answer_lock(mutex);
      if (outcome) acknowledged.insert(round);
      if (!outcome) failed = true;
      --unanswered;
      answered.notify_one();  // under the lock: the waiter may destroy all of this
    };
    const bool taken = database.stores().training.contributions.append_async(load_round(account, round), done).ok();
    // Waits for the disk now and then, so that there are commits of one round and of many.
    if (round % 64 == 0) static_cast<void>(database.stores().training.contributions.append(load_round(account, round)));
    lock.lock();
    if (!taken) {
      --unanswered;
      break;
    }
  }
  answered.wait(lock, [&] { return unanswered == 0; });
  return acknowledged;
}

// Writes until the disk is full. A batch that fails leaves its room free: smaller ones may still fit.
void fill_what_is_left(Database& database, AccountId account, std::set<RoundIndex>& acknowledged) {
  for (RoundIndex round = 300'000; round < 400'000; ++round) {
    if (!database.stores().training.contributions.append(load_round(account, round))) return;
    acknowledged.insert(round);
  }
}

}  // namespace

TEST_CASE("whenever the process is killed, what was acknowledged is in the ledger, once") {
  TempDir dir;
  std::mt19937_64 random(kSeed);
  std::set<RoundIndex> acknowledged;
  for (int kill = 0; kill < times(8, 25); ++kill) {
    CAPTURE(kill);
    Victim victim(dir / "a.db", kill * 1'000'000, "");
    victim.kill_after(static_cast<int>(random() % 400), acknowledged);
    const auto database = open(dir / "a.db");
    check_ledger(*database, prepare_load(database->stores()).value(), acknowledged);
  }
  CHECK(acknowledged.size() > times<std::size_t>(300, 1'000));
}

TEST_CASE("the disk of these tests forgets what was not synced and keeps what was") {
  for (const bool synced : {false, true}) {
    CAPTURE(synced);
    TempDir dir;
    TempDir after;
    {
      FaultyDisk disk;
      Connection connection = open_file(dir / "a.db", {.mode = OpenMode::create, .vfs = FaultyDisk::vfs()}).value();
      REQUIRE(connection.execute("CREATE TABLE t (b BLOB)").ok());
      if (!synced) REQUIRE(connection.execute("PRAGMA synchronous = OFF").ok());
      REQUIRE(connection.execute("INSERT INTO t VALUES (randomblob(100000))").ok());
      disk.cut_power_now(kSeed);
      CHECK_FALSE(connection.execute("INSERT INTO t VALUES (1)").ok());
      disk.restore(after.path());
    }
    Connection connection = open_file(after / "a.db", {}).value();
    CHECK(connection.query_int("SELECT count(*) FROM t").value() == (synced ? 1 : 0));
  }
}

TEST_CASE("whenever the power goes, what was acknowledged is in the ledger, once") {
  std::mt19937_64 random(kSeed);
  std::size_t acknowledged_in_all = 0;
  const int cuts = times(10, 40);
  for (int cut = 0; cut < cuts; ++cut) {
    TempDir dir;
    TempDir after;
    const std::uint64_t seed = random();
    CAPTURE(seed);
    std::set<RoundIndex> acknowledged;
    AccountId account = 0;
    {
      FaultyDisk disk;
      const auto database = open(dir / "a.db", on_faulty_disk());
      account = prepare_load(database->stores()).value();
      disk.cut_power_at(static_cast<std::int64_t>(seed % 1'500), seed);
      acknowledged = write_until_failure(*database, account, 0, 2'000);
      disk.cut_power_now(seed);
      disk.restore(after.path());
    }
    acknowledged_in_all += acknowledged.size();
    const auto database = open(after / "a.db");
    check_ledger(*database, account, acknowledged);
    CHECK(database->stores().training.contributions.append(load_round(account, 5'000)).ok());
  }
  CHECK(acknowledged_in_all > static_cast<std::size_t>(50 * cuts));
}

TEST_CASE("on a full disk writes are refused, reads go on, and all is well when there is space again") {
  TempDir dir;
  FaultyDisk disk;
  const auto database = open(dir / "a.db", on_faulty_disk());
  const Stores& stores = database->stores();
  const AccountId account = prepare_load(stores).value();
  disk.set_capacity(disk.bytes_used() + 200'000);
  std::set<RoundIndex> acknowledged = write_until_failure(*database, account, 0, 100'000);
  fill_what_is_left(*database, account, acknowledged);
  CHECK(!acknowledged.empty());
  for (int i = 0; i < 3; ++i) {
    const auto refused = stores.training.contributions.append(load_round(account, 200'000));
    CHECK(refused.error().code == ErrorCode::resource_exhausted);
    CHECK(refused.error().message.find("a.db") != std::string::npos);
  }
  CHECK(database->health().disk_full);
  check_ledger(*database, account, acknowledged);
  disk.set_capacity(-1);
  CHECK(stores.training.contributions.append(load_round(account, 200'000)).ok());
  CHECK_FALSE(database->health().disk_full);
  check_ledger(*database, account, acknowledged);
}

TEST_CASE("the reserve lets writes succeed on a disk that has just become full") {
  constexpr std::int64_t kReserve = 1024 * 1024;
  TempDir dir;
  FaultyDisk disk;
  DatabaseOptions options = on_faulty_disk();
  options.ballast_bytes = kReserve;
  const auto database = open(dir / "a.db", options);
  const AccountId account = prepare_load(database->stores()).value();
  REQUIRE(std::filesystem::file_size(dir / "a.db.ballast") == kReserve);
  disk.set_capacity(0, dir / "a.db.ballast");
  disk.set_capacity(disk.bytes_used(), dir / "a.db.ballast");
  CHECK(database->stores().training.contributions.append(load_round(account, 1)).ok());
  CHECK_FALSE(std::filesystem::exists(dir / "a.db.ballast"));
  CHECK_FALSE(database->health().disk_full);
  std::set<RoundIndex> acknowledged = write_until_failure(*database, account, 2, 100'000);
  fill_what_is_left(*database, account, acknowledged);
  CHECK(database->health().disk_full);
  check_ledger(*database, account, acknowledged);
}

TEST_CASE("a disk that loses an accepted write ends all writing, says so once, and a restart is sound") {
  for (const std::int64_t sync : {1, 2, 3, 5, 8}) {
    CAPTURE(sync);
    TempDir dir;
    std::atomic<int> told{0};
    std::set<RoundIndex> acknowledged;
    AccountId account = 0;
    {
      FaultyDisk disk;
      DatabaseOptions options = on_faulty_disk();
      options.on_fatal = [&told](const Error& error) { told += error.code == ErrorCode::io ? 1 : 100; };
      const auto database = open(dir / "a.db", options);
      account = prepare_load(database->stores()).value();
      disk.fail_sync_at(sync);
      acknowledged = write_until_failure(*database, account, 0, 100'000);
      CHECK(database->stores().training.contributions.append(load_round(account, 200'000)).error().code ==
            ErrorCode::io);
      CHECK(told == 1);
      check_ledger(*database, account, acknowledged);
    }
    check_ledger(*open(dir / "a.db"), account, acknowledged);
  }
}

TEST_CASE("a damaged file is named and left as it is") {
  TempDir dir;
  {
    const auto database = open(dir / "a.db");
    const AccountId account = prepare_load(database->stores()).value();
    write_until_failure(*database, account, 0, 2'000);
  }
  const std::string sound = bytes_of(dir / "a.db");
  REQUIRE(sound.size() > 100'000);
  std::vector<std::string> damaged(5, sound);
  damaged[0].replace(0, 16, "not a database!!");
  damaged[1].resize(sound.size() / 2);                            // the end is missing
  for (int i = 0; i < 64; ++i) damaged[2][4096 * 3 + i] ^= 0x55;  // the head of a page in the middle
  damaged[3].replace(4096, 4096, std::string(4096, '\xff'));      // a whole page
  for (int i = 100; i < 200; ++i) damaged[4][i] ^= 0x55;          // the schema's page
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    CAPTURE(i);
    std::ofstream(dir / "broken.db", std::ios::binary) << damaged[i];
    const auto opened = Database::open(dir / "broken.db", {});
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().code == ErrorCode::corrupt);
    CHECK(opened.error().message.find("broken.db") != std::string::npos);
    CHECK(bytes_of(dir / "broken.db") == damaged[i]);
  }
}
