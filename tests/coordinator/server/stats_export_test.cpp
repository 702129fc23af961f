// The files for statistics sites: their content, and data that must never be in them.
#include "coordinator/server/stats_export.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "coordinator/web/stats_files.h"
#include "coordinator/web/stats_page.h"
#include "db/stores/database.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "tests/support/temp_dir.h"

namespace starling::server::testing {
namespace {

constexpr WallTime kNow{1'718'000'000'000};
constexpr std::int64_t kDayMs = 86'400'000;

std::string unpacked(const std::filesystem::path& path) {
  gzFile file = ::gzopen(path.c_str(), "rb");
  REQUIRE(file != nullptr);
  std::string text;
  char bytes[4096];
  for (int got; (got = ::gzread(file, bytes, sizeof bytes)) > 0;) text.append(bytes, static_cast<std::size_t>(got));
  REQUIRE(::gzclose(file) == Z_OK);
  return text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Names of elements, or of fields.
std::set<std::string> fields_of(const std::string& xml) {
  std::set<std::string> names;
  for (std::size_t at = 0; (at = xml.find("\n <", at)) != std::string::npos; ++at) {
    names.insert(xml.substr(at + 3, xml.find('>', at) - at - 3));
  }
  return names;
}

struct Project {
  Project() {
    REQUIRE(stores.training.runs.create({"one", "envelope", db::RunState::running, kNow, 0}).ok());
    ada = join("Ada & <Bob>", 1);
    ben = join("Ben", 2);
    eve = join("Eve", 3);
    idle = join("Idle", 4);
    REQUIRE(stores.people.teams.found(ada, "Swans", kNow).ok());
    REQUIRE(stores.people.keeper.show_computers(ada, true).ok());
    REQUIRE(stores.people.keeper.label_host(ada, peer(1), "adas-laptop.example.org").ok());
    REQUIRE(stores.people.logins.set({ada, "ada@example.org", kNow, "hash"}).ok());
    grant(ada, 1, 3'000'000);
    grant(ben, 2, 2'000'000);
    grant(eve, 3, 1'000'000);
  }
  static PeerId peer(std::uint8_t number) {
    PeerId id;
    id.bytes.fill(number);
    return id;
  }
  AccountId join(const std::string& name, std::uint8_t number) {
    return stores.people.accounts.join({name, peer(number), {}, {kNow.unix_ms - 10 * kDayMs}}).value();
  }
  void grant(AccountId account, std::uint8_t number, db::MicroCredit credit) {
    db::RoundResult result;
    result.record.run_id = "one";
    result.record.round = number;
    result.contributions.push_back({peer(number), account, 10, credit, kNow});
    REQUIRE(stores.training.contributions.append(result).ok());
  }
  StatsCounts write(WallTime now = kNow) {
    const auto counts = write_stats(stores, folder, now);
    REQUIRE_MESSAGE(counts.ok(), (counts.ok() ? "" : counts.status().error().message));
    return *counts;
  }
  [[nodiscard]] std::string table(const std::string& name) const { return unpacked(folder / name); }

  starling::testing::TempDir dir;
  std::filesystem::path folder = dir / "stats";
  std::unique_ptr<db::Database> database =
      db::Database::open(dir / "a.db", {.create = true, .commit_interval = from_ms(0), .ballast_bytes = 0}).value();
  const db::Stores& stores = database->stores();
  AccountId ada = 0;
  AccountId ben = 0;
  AccountId eve = 0;
  AccountId idle = 0;
};

}  // namespace

TEST_CASE_FIXTURE(Project, "volunteers, teams and computers with credit are told as BOINC projects tell theirs") {
  const StatsCounts counts = write();
  CHECK(counts.users == 3);
  CHECK(counts.teams == 1);
  CHECK(counts.hosts == 3);
  const std::string users = table("user.gz");
  CHECK(users.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<users>\n<user>\n <id>1</id>\n"));
  CHECK(users.ends_with("</user>\n</users>\n"));
  CHECK(has(users, " <name>Ada &amp; &lt;Bob&gt;</name>\n"));
  CHECK(has(users, " <total_credit>3.000000</total_credit>\n"));
  CHECK(has(users, " <create_time>1717136000</create_time>\n"));
  CHECK(has(users, " <teamid>1</teamid>\n"));
  CHECK_FALSE(has(users, "Idle"));
  CHECK(has(table("user.jsonl.gz"), R"({"id":1,"name":"Ada & <Bob>","create_time":1717136000,"total_credit":3,)"));
  CHECK(has(table("team.gz"), " <name>Swans</name>\n <userid>1</userid>\n <total_credit>3.000000</total_credit>\n"));
  // The owner of a computer is named only if the owner shows the computers.
  const std::string hosts = table("host.jsonl.gz");
  CHECK(has(hosts, R"({"id":1,"userid":1,)"));
  CHECK(has(hosts, R"({"id":2,"total_credit":2,)"));
  const auto tables = read_file(folder / "tables.xml", 4096);
  CHECK(has(*tables, " <update_time>1718000000</update_time>\n <nusers_total>3</nusers_total>\n"));
}

TEST_CASE_FIXTURE(Project, "totals are of final credit, and nobody is listed who has none") {
  db::RoundResult result;
  result.record.run_id = "one";
  result.record.round = 9;
  result.wait = 3;
  result.contributions = {{peer(1), ada, 10, 500'000, kNow}, {peer(4), idle, 10, 500'000, kNow}};
  REQUIRE(stores.training.contributions.append(result).ok());
  CHECK(write().users == 3);
  CHECK(has(table("user.gz"), " <name>Ada &amp; &lt;Bob&gt;</name>\n"));
  CHECK(has(table("user.gz"), " <total_credit>3.000000</total_credit>\n"));
  CHECK(has(table("team.gz"), " <total_credit>3.000000</total_credit>\n"));
  CHECK_FALSE(has(table("user.gz"), "Idle"));
  CHECK(has(table("host.jsonl.gz"), R"({"id":1,"userid":1,"total_credit":3,)"));
  result.record.round = 12;
  result.final_below = 10;
  result.contributions.resize(1);
  REQUIRE(stores.training.contributions.append(result).ok());
  CHECK(write().users == 4);
  CHECK(has(table("user.gz"), " <total_credit>3.500000</total_credit>\n"));
  CHECK(has(table("user.gz"), "Idle"));
}

TEST_CASE_FIXTURE(Project, "no file has a field that is not meant for everybody, or an address, or a computer's name") {
  write();
  const std::set<std::string> allowed = {"id",           "name",    "create_time", "total_credit", "expavg_credit",
                                         "expavg_time",  "cpid",    "teamid",      "userid",       "nusers",
                                         "founder_name", "user_id", "host_id",     "delete_time"};
  for (const std::string_view name : web::stats_files()) {
    CAPTURE(std::string(name));
    if (name == web::kStatsTables || name == web::kStatsDigests) continue;
    const std::string text = table(std::string(name));
    for (const char* secret : {"ada@example.org", "example.org", "laptop", "hash", "0101010101"}) {
      CHECK_FALSE(has(text, secret));
    }
    for (const std::string& field : fields_of(text)) CHECK_MESSAGE(allowed.contains(field), field);
  }
}

TEST_CASE_FIXTURE(Project, "a volunteer keeps their cross-project id, which says nothing of them") {
  write();
  const auto id_of = [&](const std::string& name) {
    const std::string users = table("user.gz");
    const std::size_t at = users.find("<cpid>", users.find("<name>" + name));
    return users.substr(at + 6, 32);
  };
  const std::string ben_before = id_of("Ben");
  CHECK(ben_before != id_of("Eve"));
  REQUIRE(stores.people.keeper.rename(ben, "Benjamin").ok());
  write();
  CHECK(id_of("Benjamin") == ben_before);
}

TEST_CASE_FIXTURE(Project, "a deleted account is named by its number for 60 days, and then not any more") {
  REQUIRE(stores.people.keeper.erase(eve, kNow).ok());
  const StatsCounts counts = write({kNow.unix_ms + 60 * kDayMs});
  CHECK(counts.users == 2);
  CHECK(counts.hosts == 2);
  CHECK(counts.deleted == 1);
  CHECK_FALSE(has(table("user.gz"), "Eve"));
  CHECK_FALSE(has(table("user.gz"), "deleted"));
  CHECK(has(table("user_deleted.gz"),
            "<users_deleted>\n<user>\n <user_id>3</user_id>\n <delete_time>1718000000</delete_time>\n</user>\n"));
  CHECK(has(table("host_deleted.jsonl.gz"), R"({"host_id":3,"delete_time":1718000000})"));
  CHECK(write({kNow.unix_ms + 60 * kDayMs + 1}).deleted == 0);
  CHECK_FALSE(has(table("user_deleted.gz"), "<user>"));
}

TEST_CASE_FIXTURE(Project, "an export takes the place of the last one at once, and of nothing else") {
  write();
  std::filesystem::create_directory(dir / "stats.new");  // left by an export that was killed
  REQUIRE(write_file_atomically(dir / "stats.new" / "user.gz", "half").ok());
  write({kNow.unix_ms + kDayMs});
  CHECK(has(*read_file(folder / "tables.xml", 4096), "<update_time>1718086400<"));
  CHECK_FALSE(std::filesystem::exists(dir / "stats.new"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) ==
        static_cast<std::ptrdiff_t>(web::stats_files().size()));
  // A folder with other files is not emptied.
  folder = dir / "holidays";
  std::filesystem::create_directory(folder);
  REQUIRE(write_file_atomically(folder / "sea.jpg", "x").ok());
  CHECK(write_stats(stores, folder, kNow).status().error().code == ErrorCode::failed_precondition);
  CHECK(std::filesystem::exists(folder / "sea.jpg"));
  // Two exports cannot run at the same time.
  folder = dir / "stats";
  const auto lock = FileLock::acquire(dir / "stats.lock");
  REQUIRE(lock.ok());
  CHECK(write_stats(stores, folder, kNow).status().error().code == ErrorCode::already_exists);
}

TEST_CASE_FIXTURE(Project, "an export says what is in it: names, sizes, when, and digests that hold") {
  CHECK(web::read_stats_folder(folder).files.empty());
  CHECK(has(web::render_stats_page({"Poems", {}, {}, kNow}), "None yet"));
  write();
  web::StatsPageData page = web::read_stats_folder(folder);
  CHECK(page.files.size() == web::stats_files().size());
  CHECK(page.made->unix_ms == kNow.unix_ms);
  for (const web::StatsFile& file : page.files) {
    CAPTURE(std::string(file.name));
    CHECK(file.bytes == static_cast<std::int64_t>(std::filesystem::file_size(folder / file.name)));
    const bool digests = file.name == web::kStatsDigests;
    CHECK(file.sha256 == (digests ? "" : crypto::sha256_file(folder / file.name)->hex()));
  }
  page.project = "Poems";
  page.now = {kNow.unix_ms + 3 * 3'600'000};
  const std::string html = web::render_stats_page(page);
  CHECK(has(html, "Made 2024-06-10 06:13 UTC, 3 h ago."));
  CHECK(has(html, "<a href=\"/stats/host_deleted.jsonl.gz\">"));
  CHECK(has(html, "numbers of their computers; JSON lines, gzip"));
  // Every field of every file is explained.
  for (const std::string_view name : web::stats_files()) {
    if (name == web::kStatsTables || !name.ends_with(".gz") || name.ends_with(".jsonl.gz")) continue;
    for (const std::string& field : fields_of(table(std::string(name)))) CHECK_MESSAGE(has(html, field), field);
  }
}

TEST_CASE_FIXTURE(Project, "the server gives out the files of an export, and no others") {
  CHECK(web::stats_response(folder, "user.gz").status == 404);
  write();
  const gate::Response users = web::stats_response(folder, "user.gz");
  CHECK(users.status == 200);
  REQUIRE(users.file);
  CHECK(users.file->path == folder / "user.gz");
  CHECK(users.file->length == static_cast<std::int64_t>(std::filesystem::file_size(folder / "user.gz")));
  for (const char* name : {"../a.db", "..", "", "a.db", "user.gz/../../a.db", "stats.lock", "%2e%2e"}) {
    CAPTURE(name);
    CHECK(web::stats_response(folder, name).status == 404);
  }
}

}  // namespace starling::server::testing
