// Names are one person's, team's or operator's, in whatever case, width or script they are written.
#include <doctest/doctest.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uspoof.h>
#include <unicode/uvernum.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "db/postgres/open.h"
#include "db/schema/migrate.h"
#include "db/sqlite/open.h"
#include "db/stores/name_clash.h"
#include "db/stores/name_keys.h"
#include "db/stores/name_rows.h"
#include "tests/db/stores/faulty_disk.h"
#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::PostgresServer;
using starling::testing::TempDir;

namespace {

constexpr int kVersionBefore = 18;
constexpr int kVersionBeforeCapitals = 19;

std::string utf8_of(const icu::UnicodeString& text) {
  std::string bytes;
  text.toUTF8String(bytes);
  return bytes;
}

bool is_letter(UChar32 c) { return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_ND_MASK)) != 0; }

// Names that a reader takes for one another.
const std::vector<std::vector<std::string>> kAlike = {{"Ada", "ADA", "ada", "Ａｄａ", "Аdа", "АDА"},
                                                      {"Анна", "анна", "АННА"},
                                                      {"Zo\u00eb", "ZO\u00cb"},
                                                      {"Ian", "lan", "IAN", "1an"},
                                                      {"Stra\u00dfe", "STRASSE"},
                                                      {"modern", "rnodern"},
                                                      {"O2", "02"},
                                                      {"Marta", "МARTA", "marta", "МАRТА", "Мarta"},
                                                      {"ben", "Вen", "ВEN", "BEN"},
                                                      {"Hans", "НANS", "Нans"},
                                                      {"Nina", "ΝINA", "ΝΙΝΑ", "nina"},
                                                      {"علی\u200cرضا", "علیرضا"}};

Status join_as(const Stores& stores, const std::string& name, std::uint8_t number) {
  return stores.people.accounts.join({.display_name = name, .peer_id = peer(number), .invite = {}, .now = {1000}})
      .status();
}

}  // namespace

TEST_CASE("all letters that ICU's spoof checker takes for one another have the same look") {
  UErrorCode code = U_ZERO_ERROR;
  USpoofChecker* const checker = uspoof_open(&code);
  REQUIRE(U_SUCCESS(code));
  std::map<std::string, std::string> first;  // letter by skeleton
  int pairs = 0;
  for (UChar32 c = 0; c <= UCHAR_MAX_VALUE; ++c) {
    if (!is_letter(c)) continue;
    const icu::UnicodeString letter(c);
    icu::UnicodeString skeleton;
    uspoof_getSkeletonUnicodeString(checker, 0, letter, skeleton, &code);
    const auto [other, is_new] = first.emplace(utf8_of(skeleton), utf8_of(letter));
    if (is_new) continue;
    ++pairs;
    const std::string name = "x" + utf8_of(letter) + "x";
    const std::string like = "x" + other->second + "x";
    if (keys_of_name(name).look != keys_of_name(like).look) FAIL_CHECK(name, " ", like);
  }
  uspoof_close(checker);
  CHECK(U_SUCCESS(code));
  CHECK(pairs > 3000);
}

TEST_CASE("letters that look alike in one case tell no two names apart in another") {
  UErrorCode code = U_ZERO_ERROR;
  USpoofChecker* const checker = uspoof_open(&code);
  REQUIRE(U_SUCCESS(code));
  std::map<std::pair<bool, std::string>, UChar32> first;  // letter by its case and skeleton
  int pairs = 0;
  std::string apart;
  for (UChar32 c = 0; c <= UCHAR_MAX_VALUE; ++c) {
    if (!is_letter(c) || (!u_isULowercase(c) && !u_isUUppercase(c))) continue;
    icu::UnicodeString skeleton;
    uspoof_getSkeletonUnicodeString(checker, 0, icu::UnicodeString(c), skeleton, &code);
    const auto [other, is_new] = first.emplace(std::pair(u_isUUppercase(c) != 0, utf8_of(skeleton)), c);
    if (is_new) continue;
    ++pairs;
    const std::string name = "x" + utf8_of(icu::UnicodeString(c)) + "x";
    for (const UChar32 like : {other->second, u_tolower(other->second), u_toupper(other->second)}) {
      const NameKeys there = keys_of_name("x" + utf8_of(icu::UnicodeString(like)) + "x");
      const NameKeys keys = keys_of_name(name);
      const bool alike = keys.fold == there.fold || keys.look == there.look || keys.capitals == there.capitals;
      if (!alike) apart += utf8_of(icu::UnicodeString(c));
    }
  }
  uspoof_close(checker);
  CHECK(U_SUCCESS(code));
  CHECK(pairs > 500);
  // Letters that are folded to others than those that they look like: long s, lunate sigma, iota subscript.
  // Other versions of the library know other letters.
  if (U_ICU_VERSION_MAJOR_NUM == 72) CHECK(apart == "ſͺϲϹẛᾳꭴꮁ");
  CHECK(keys_of_name("Lan").capitals != keys_of_name("Ian").capitals);
}

TEST_CASE("capital and small letters fold to one") {
  for (UChar32 c = 0; c <= UCHAR_MAX_VALUE; ++c) {
    if (!is_letter(c) || u_foldCase(c, U_FOLD_CASE_DEFAULT) == c) continue;
    const std::string capital = utf8_of(icu::UnicodeString(c));
    const std::string small = utf8_of(icu::UnicodeString(u_foldCase(c, U_FOLD_CASE_DEFAULT)));
    if (keys_of_name("a" + capital).fold != keys_of_name("a" + small).fold) FAIL_CHECK(capital, " ", small);
    if (keys_of_name("a" + capital).capitals != keys_of_name("a" + small).capitals) FAIL_CHECK(capital, " ", small);
  }
  CHECK(keys_of_name("Ada").fold != keys_of_name("Adb").fold);
  CHECK(keys_of_name("Lan").look != keys_of_name("Ian").look);
}

TEST_SUITE_BEGIN("stores");

TEST_CASE("a volunteer's name is nobody else's in any spelling") {
  TempDir dir;
  const auto database = open(dir / "a.db");
  const Stores& stores = database->stores();
  std::uint8_t number = 0;
  for (const auto& group : kAlike) {
    CAPTURE(group[0]);
    const AccountId first = join(stores, group[0], ++number);
    const AccountId other = join(stores, "other " + std::string(1, static_cast<char>('a' + number)), 100 + number);
    for (const std::string& name : group) {
      CAPTURE(name);
      CHECK(join_as(stores, name, 200).error().code == ErrorCode::already_exists);
      CHECK(stores.people.keeper.rename(other, name).error().code == ErrorCode::already_exists);
      CHECK(stores.people.logins.sign_up({name, "", "", {}, AccountState::active, {1}}).error().code ==
            ErrorCode::already_exists);
    }
    REQUIRE(stores.people.keeper.rename(first, group[1]).ok());  // its own
    CHECK(stores.people.accounts.find_account(first)->display_name == group[1]);
    REQUIRE(stores.people.keeper.erase(first, {5}).ok());
    CHECK(join_as(stores, group[0], 150 + number).ok());  // free again
  }
}

TEST_CASE("a name is found in any case, width and composition") {
  TempDir dir;
  const auto database = open(dir / "a.db");
  const Stores& stores = database->stores();
  const AccountId ada = join(stores, "Zo\u00eb Ада", 1);
  REQUIRE(stores.people.logins.set({ada, "zoe@example.org", {5}, "hash"}).ok());
  for (const char* name : {"Zo\u00eb Ада", "zoe\u0308 ада", "ZO\u00cb АДА", "Ｚｏ\u00eb Ада"}) {
    CAPTURE(name);
    CHECK(stores.people.accounts.find_account_named(name)->id == ada);
    CHECK(stores.people.logins.find(name)->account_id == ada);
  }
  CHECK(stores.people.logins.find("Zoe@Example.org")->account_id == ada);
  CHECK(stores.people.accounts.find_account_named("Zoe Ада").error().code == ErrorCode::not_found);
}

TEST_CASE("teams' and operators' names are unique and found likewise") {
  TempDir dir;
  const auto database = open(dir / "a.db");
  const Stores& stores = database->stores();
  const AccountId ada = join(stores, "Ada", 1);
  const AccountId ben = join(stores, "Ben", 2);
  REQUIRE(stores.people.teams.found(ada, "Лебеди", {1}).ok());
  CHECK(stores.people.teams.found(ben, "ЛЕБЕДИ", {1}).error().code == ErrorCode::already_exists);
  CHECK(stores.people.teams.join(ben, "лебеди", {1})->name == "Лебеди");
  db::OperatorStore& operators = stores.operation.operators;
  REQUIRE(operators.set({"Zo\u00eb", "one", {1}}).ok());
  CHECK(operators.set({"ZO\u00cb", "two", {1}}).error().code == ErrorCode::already_exists);
  REQUIRE(operators.set({"Zo\u00eb", "two", {1}}).ok());
  CHECK(operators.find("ZO\u00cb")->password == "two");
  REQUIRE(operators.set_role("zo\u00eb", OperatorRole::viewer).ok());
  CHECK(operators.find("Zo\u00eb")->role == OperatorRole::viewer);
  REQUIRE(operators.remove("zo\u00eb").ok());
  CHECK(operators.list()->empty());
}

TEST_CASE("a search finds names in any case") {
  Ledger ledger;
  ledger.grant(ledger.join_at("Анна Мария", 1), 1, 1000, kStart);
  for (const char* part : {"анна", "АНН", "мари", "А м"}) {
    CAPTURE(part);
    const auto page = ledger.stores.credit.standings.page({.board = Board::total, .run_id = "r", .search = part});
    REQUIRE(page.ok());
    CHECK(page->rows.size() == 1);
  }
}

TEST_SUITE_END();

namespace {

// People, teams and operators of before, whose names clash outside ASCII.
void add_clashes(Connection& connection) {
  const Status added = connection.execute(
      "INSERT INTO account (display_name, created_ms) VALUES ('Анна', 1), ('Ada', 1), ('анна', 1), ('Zoë', 1), "
      "('Аdа', 1), ('АННА', 1);"
      "INSERT INTO login (account_id, email, verified_ms, password) VALUES (1, '', 0, 'one'), (3, '', 0, 'three');"
      "INSERT INTO team (name, founder_id, created_ms) VALUES ('Лебеди', 1, 1), ('лебеди', 1, 1);"
      "INSERT INTO operator (name, password, created_ms) VALUES ('Zoë', 'a', 2), ('ZOË', 'b', 1), ('Ben', 'c', 3);");
  REQUIRE_MESSAGE(added.ok(), (added.ok() ? "" : added.error().message));
  Statement session =
      connection.prepare("INSERT INTO operator_session (token_hash, name, expires_ms) VALUES (?, 'BEN', 9)").value();
  REQUIRE(session.bind(digest(7)).run().ok());
}

std::vector<std::string> listed(const Result<std::vector<NameClash>>& clashes) {
  std::vector<std::string> lines;
  for (const NameClash& clash : clashes.value()) {
    lines.push_back(clash.kind + ": " + clash.name + " ~ " + clash.like);
  }
  return lines;
}

const std::vector<std::string> kListed = {"account: анна ~ Анна", "account: Аdа ~ Ada", "account: АННА ~ Анна",
                                          "team: лебеди ~ Лебеди", "operator: Zoë ~ ZOË"};

void check_upgraded(const Database& database) {
  const Stores& stores = database.stores();
  // Each is found by the name as it is written; other spellings find the first.
  CHECK(stores.people.accounts.find_account_named("АННА")->id == 6);
  CHECK(stores.people.accounts.find_account_named("анна")->id == 3);
  CHECK(stores.people.accounts.find_account_named("аННа")->id == 1);
  CHECK(stores.people.logins.find("анна")->password == "three");
  CHECK(stores.people.logins.find("Анна")->password == "one");
  CHECK(stores.people.teams.find_named("лебеди")->id == 2);
  CHECK(stores.operation.operators.find("Zoë")->password == "a");
  CHECK(stores.operation.operators.session(digest(7), {1})->name == "Ben");
  // A new one is refused, also when the first is gone.
  CHECK(join_as(stores, "аннА", 9).error().code == ErrorCode::already_exists);
  REQUIRE(stores.people.keeper.rename(1, "Мария").ok());
  CHECK(join_as(stores, "аннА", 9).error().code == ErrorCode::already_exists);
  REQUIRE(stores.people.keeper.rename(3, "Ева").ok());
  REQUIRE(stores.people.keeper.erase(6, {5}).ok());
  CHECK(join_as(stores, "аннА", 9).ok());
}

void migrate_to(int version, Connection& connection, std::span<const Migration> all) {
  const auto is_later = [version](const Migration& migration) { return migration.version > version; };
  const auto end = std::find_if(all.begin(), all.end(), is_later);
  REQUIRE(migrate(connection, all.first(static_cast<std::size_t>(end - all.begin()))).ok());
}

void make_old(Connection connection, std::span<const Migration> all) {
  migrate_to(kVersionBefore, connection, all);
  add_clashes(connection);
}

// Names as the rules of before had them, which knew nothing of capitals that look alike.
void make_without_capitals(Connection connection, std::span<const Migration> all) {
  migrate_to(kVersionBeforeCapitals, connection, all);
  const Status added = connection.execute(
      "INSERT INTO account (display_name, created_ms, name_fold, name_look) VALUES ('Marta', 1, 'rnarta', 'Marta'), "
      "('МARTA', 1, 'мarta', 'MARTA'), ('Ben', 1, 'ben', 'Ben');"
      "INSERT INTO team (name, founder_id, created_ms, name_fold, name_look) VALUES ('Nina', 1, 1, 'nina', 'Nina');"
      "INSERT INTO operator (name, password, created_ms, name_fold, name_look) VALUES ('НANS', 'a', 2, 'нans', 'HANS'),"
      " ('Hans', 'b', 1, 'hans', 'Hans');"
      "INSERT INTO setting (name, value) VALUES ('name rules', '1 72.1')");
  REQUIRE_MESSAGE(added.ok(), (added.ok() ? "" : added.error().message));
}

const std::vector<std::string> kListedCapitals = {"account: МARTA ~ Marta", "operator: НANS ~ Hans"};

void check_capitals(const Stores& stores) {
  CHECK(stores.people.accounts.find_account_named("МARTA")->id == 2);
  CHECK(stores.people.accounts.find_account_named("MARTA")->id == 1);
  CHECK(stores.operation.operators.find("НANS")->password == "a");
  CHECK(join_as(stores, "Мarta", 9).error().code == ErrorCode::already_exists);
  CHECK(join_as(stores, "ВEN", 9).error().code == ErrorCode::already_exists);
  CHECK(stores.people.teams.found(3, "ΝINA", {1}).error().code == ErrorCode::already_exists);
}

}  // namespace

TEST_CASE("names that clash already keep to their owners in a file, and are listed") {
  TempDir dir;
  make_old(open_file(dir / "a.db", {.mode = OpenMode::create}).value(), sqlite_migrations());
  { REQUIRE(Database::open(dir / "a.db", {.ballast_bytes = 0}).ok()); }
  const auto database = Database::open(dir / "a.db", {.ballast_bytes = 0}).value();  // the second time changes nothing
  CHECK(listed(clashing_names(dir / "a.db")) == kListed);
  check_upgraded(*database);
  CHECK(listed(clashing_names(dir / "a.db")).size() == 3);  // two accounts got other names
}

TEST_CASE("names that clash already keep to their owners on a server, and are listed") {
  const std::string url = PostgresServer::shared().create_database();
  {
    Connection connection = open_server(url, ServerRole::writer).value();
    migrate_to(kVersionBefore, connection, postgres_migrations());
    // A server whose locale knows no letters but ASCII's had such names, too.
    REQUIRE(connection
                .execute("ALTER TABLE account ALTER COLUMN display_name TYPE text;"
                         "ALTER TABLE team ALTER COLUMN name TYPE text;"
                         "ALTER TABLE operator_session DROP CONSTRAINT operator_session_name_fkey;"
                         "ALTER TABLE operator ALTER COLUMN name TYPE text")
                .ok());
    add_clashes(connection);
    REQUIRE(connection.execute("UPDATE operator_session SET name = 'Ben'").ok());
    REQUIRE(connection
                .execute("ALTER TABLE operator_session ALTER COLUMN name TYPE text;"
                         "ALTER TABLE operator_session ADD CONSTRAINT operator_session_name_fkey FOREIGN KEY (name) "
                         "REFERENCES operator (name) ON DELETE CASCADE")
                .ok());
  }
  const auto database = Database::connect(url, {}).value();
  CHECK(listed(clashing_names_at(url)) == kListed);
  check_upgraded(*database);
}

TEST_CASE("a file with names that clash moves to a server, which lists the same") {
  TempDir dir;
  make_old(open_file(dir / "a.db", {.mode = OpenMode::create}).value(), sqlite_migrations());
  const std::string url = PostgresServer::shared().create_database();
  const auto file = Database::open(dir / "a.db", {.ballast_bytes = 0}).value();
  const Status moved = file->copy_to_server(url);
  REQUIRE_MESSAGE(moved.ok(), (moved.ok() ? "" : moved.error().message));
  const auto server = Database::connect(url, {}).value();
  CHECK(listed(clashing_names_at(url)) == kListed);
  check_upgraded(*server);
  check_upgraded(*file);
}

TEST_CASE("names that clash in capitals keep to their owners in a file and on a server, and are listed") {
  TempDir dir;
  const std::string url = PostgresServer::shared().create_database();
  make_without_capitals(open_file(dir / "a.db", {.mode = OpenMode::create}).value(), sqlite_migrations());
  make_without_capitals(open_server(url, ServerRole::writer).value(), postgres_migrations());
  {
    const auto file = Database::open(dir / "a.db", {.ballast_bytes = 0}).value();
    CHECK(listed(clashing_names(dir / "a.db")) == kListedCapitals);
    check_capitals(file->stores());
    const std::string other = PostgresServer::shared().create_database();
    REQUIRE(file->copy_to_server(other).ok());
    CHECK(listed(clashing_names_at(other)) == kListedCapitals);
  }
  const auto server = Database::connect(url, {}).value();
  CHECK(listed(clashing_names_at(url)) == kListedCapitals);
  check_capitals(server->stores());
}

TEST_CASE("a full disk keeps nobody from looking while names wait for new rules; any other failure is one") {
  TempDir dir;
  FaultyDisk disk;
  Connection connection = open_file(dir / "a.db", {.mode = OpenMode::create, .vfs = FaultyDisk::vfs()}).value();
  REQUIRE(migrate(connection).ok());
  REQUIRE(connection.execute("INSERT INTO account (display_name, created_ms) VALUES ('Ada', 1)").ok());
  REQUIRE(bring_names_up_to_date(connection).ok());
  REQUIRE(connection
              .execute("UPDATE setting SET value = 'old' WHERE name = 'name rules';"
                       "CREATE TRIGGER refuse BEFORE UPDATE OF name_fold ON account "
                       "BEGIN SELECT RAISE(ABORT, 'no names today'); END")
              .ok());
  const Status failed = bring_names_up_to_date(connection);
  REQUIRE(!failed.ok());
  CHECK(failed.error().message.find("no names today") != std::string::npos);
  REQUIRE(connection.execute("DROP TRIGGER refuse").ok());
  disk.set_capacity(disk.bytes_used());
  CHECK(bring_names_up_to_date(connection).ok());
  disk.set_capacity(-1);
  REQUIRE(connection.execute("UPDATE account SET name_fold = NULL").ok());
  disk.set_capacity(disk.bytes_used());
  CHECK(bring_names_up_to_date(connection).error().code == ErrorCode::resource_exhausted);
  disk.set_capacity(-1);
  CHECK(bring_names_up_to_date(connection).ok());
}

TEST_CASE("names are folded again when the rules are new, and when rows came without") {
  TempDir dir;
  {
    const auto database = Database::open(dir / "a.db", {.create = true, .ballast_bytes = 0}).value();
    join(database->stores(), "Ada", 1);
  }
  {
    Connection connection = open_file(dir / "a.db", {.mode = OpenMode::read_write}).value();
    REQUIRE(connection
                .execute("UPDATE account SET name_fold = 'x', name_look = 'x'; UPDATE setting SET value = 'old' "
                         "WHERE name = 'name rules'")
                .ok());
  }
  {
    const auto database = Database::open(dir / "a.db", {.ballast_bytes = 0}).value();
    CHECK(database->stores().people.accounts.find_account_named("ADA").ok());
  }
  {
    Connection connection = open_file(dir / "a.db", {.mode = OpenMode::read_write}).value();
    REQUIRE(connection.execute("INSERT INTO account (display_name, created_ms) VALUES ('Ben', 1)").ok());
  }
  const auto database = Database::open(dir / "a.db", {.ballast_bytes = 0}).value();
  CHECK(join_as(database->stores(), "BEN", 2).error().code == ErrorCode::already_exists);
}
