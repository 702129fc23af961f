#include "db/stores/name_rows.h"

#include <fmt/core.h>

#include <array>
#include <unordered_set>
#include <vector>

#include "db/postgres/open.h"
#include "db/sql/transaction.h"
#include "db/sqlite/open.h"
#include "db/stores/name_clash.h"
#include "shared/base/log.h"

namespace starling::db {
namespace {

constexpr std::array<NameTable, 3> kTables = {kAccountNames, kTeamNames, kOperatorNames};
constexpr std::string_view kRulesSetting = "name rules";

// Reads the first column of all rows.
Result<std::vector<std::string>> texts(Connection& connection, const std::string& sql) {
  STARLING_ASSIGN(Statement statement, connection.prepare(sql));
  std::vector<std::string> rows;
  for (;;) {
    STARLING_ASSIGN(const bool more, statement.step());
    if (!more) return rows;
    rows.push_back(statement.text(0));
  }
}

// The names in the order in which they were taken: who was first keeps the name for himself.
Result<std::vector<std::string>> names_of(Connection& connection, const NameTable& table) {
  return texts(connection, fmt::format("SELECT {} FROM {} ORDER BY {}", table.name, table.table,
                                       table.key == "id" ? "id" : "created_ms, name"));
}

// Names as they are written are unique on both kinds of database, so that each stands for its row.
Status fold_table(Connection& connection, const NameTable& table, std::int64_t& twins) {
  STARLING_ASSIGN(const auto names, names_of(connection, table));
  STARLING_TRY(
      connection.execute(fmt::format("UPDATE {} SET name_fold = NULL, name_look = NULL, name_capitals = NULL, "
                                     "name_twin = 0",
                                     table.table)));
  STARLING_ASSIGN(Statement fold, connection.prepare(fmt::format(
                                      "UPDATE {0} SET name_fold = ?2, name_look = ?3, name_capitals = ?4, name_twin = "
                                      "?5 WHERE {1} = ?1 AND {1} || '' = ?1",
                                      table.table, table.name)));
  std::unordered_set<std::string> folds;
  std::unordered_set<std::string> looks;
  std::unordered_set<std::string> capitals;
  for (const std::string& name : names) {
    const NameKeys keys = keys_of_name(name);
    const bool is_new = folds.insert(keys.fold).second;
    const bool looks_new = looks.insert(keys.look).second;
    const bool is_like_none = capitals.insert(keys.capitals).second && is_new && looks_new;
    STARLING_TRY(fold.bind(name, keys.fold, keys.look, keys.capitals, is_like_none ? std::int64_t{0} : ++twins).run());
    fold.reset();
  }
  return {};
}

// Whether a table has such rows.
Result<bool> has_rows(Connection& connection, std::string_view which) {
  for (const NameTable& table : kTables) {
    STARLING_ASSIGN(const auto rows,
                    texts(connection, fmt::format("SELECT {} FROM {} {}LIMIT 1", table.name, table.table, which)));
    if (!rows.empty()) return true;
  }
  return false;
}

Result<bool> lacks_keys(Connection& connection) { return has_rows(connection, "WHERE name_fold IS NULL "); }

Result<bool> is_up_to_date(Connection& connection) {
  STARLING_ASSIGN(Statement find, connection.prepare("SELECT value FROM setting WHERE name = ?"));
  STARLING_ASSIGN(const bool there, find.bind(kRulesSetting).step());
  const bool same = there && find.text(0) == name_rules();
  // Without a setting a table without rows is up to date: a database that is to take a copy stays without rows.
  STARLING_ASSIGN(const bool behind, same ? lacks_keys(connection) : has_rows(connection, ""));
  return !behind;
}

Status fold_all(Connection& connection) {
  STARLING_ASSIGN(Transaction transaction, Transaction::begin(connection, TransactionKind::write));
  STARLING_ASSIGN(const bool meanwhile, is_up_to_date(connection));
  if (meanwhile) return {};
  std::int64_t twins = 0;
  for (const NameTable& table : kTables) STARLING_TRY(fold_table(connection, table, twins));
  STARLING_ASSIGN(Statement note,
                  connection.prepare("INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET "
                                     "value = excluded.value"));
  STARLING_TRY(note.bind(kRulesSetting, name_rules()).run());
  return transaction.commit();
}

// The twins, with the name that each is like.
Result<std::vector<NameClash>> clashes_in(Connection& connection) {
  std::vector<NameClash> clashes;
  for (const NameTable& table : kTables) {
    STARLING_ASSIGN(
        Statement find,
        connection.prepare(fmt::format(
            "SELECT twin.{0}, (SELECT {0} FROM {1} AS other WHERE (other.name_fold = twin.name_fold OR other.name_look "
            "= twin.name_look OR other.name_capitals = twin.name_capitals) AND other.{2} <> twin.{2} ORDER BY "
            "other.name_twin LIMIT 1) FROM {1} AS twin WHERE twin.name_twin > 0 ORDER BY twin.name_twin",
            table.name, table.table, table.key)));
    for (;;) {
      STARLING_ASSIGN(const bool more, find.step());
      if (!more) break;
      if (!find.is_null(1)) clashes.push_back({std::string(table.table), find.text(0), find.text(1)});
    }
  }
  return clashes;
}

}  // namespace

std::string key_of_name(const NameTable& table, std::string_view name, std::string_view fold) {
  // Comparing the name with nothing appended leaves SQLite's rule for the column out, which is blind to case.
  return fmt::format(
      "(SELECT found FROM (SELECT {1} AS found, 0 AS place FROM {0} WHERE {2} = {3} AND {2} || '' = {3} UNION ALL "
      "SELECT {1}, 1 + name_twin FROM {0} WHERE name_fold = {4}) AS named ORDER BY place LIMIT 1)",
      table.table, table.key, table.name, name, fold);
}

Result<std::string> name_like(Connection& connection, const NameTable& table, const std::string& name,
                              const std::string& except) {
  const NameKeys keys = keys_of_name(name);
  STARLING_ASSIGN(Statement find,
                  connection.prepare(fmt::format("SELECT {0} FROM {1} WHERE (name_fold = ?1 OR name_look = ?2 OR "
                                                 "name_capitals = ?3) AND CAST({2} AS TEXT) <> ?4 ORDER BY name_twin "
                                                 "LIMIT 1",
                                                 table.name, table.table, table.key)));
  STARLING_ASSIGN(const bool taken, find.bind(keys.fold, keys.look, keys.capitals, except).step());
  return taken ? find.text(0) : std::string();
}

Status expect_free(Connection& connection, const NameTable& table, const std::string& name, const std::string& except) {
  STARLING_ASSIGN(const std::string taken, name_like(connection, table, name, except));
  if (taken.empty()) return {};
  return Error{ErrorCode::already_exists, fmt::format("the name '{}' is taken; choose another one", taken)};
}

Status bring_names_up_to_date(Connection& connection) {
  STARLING_ASSIGN(const bool before, is_up_to_date(connection));
  if (before) return {};
  const Status folded = fold_all(connection);
  if (folded.ok()) return {};
  // Where every name has its keys, by the rules of before, a full disk or another writer keeps nobody from looking at
  // the project.
  const ErrorCode code = folded.error().code;
  if (code != ErrorCode::resource_exhausted && code != ErrorCode::unavailable) return folded;
  STARLING_ASSIGN(const bool lacking, lacks_keys(connection));
  if (lacking) return folded;
  log_warning("names are compared by the rules of an earlier version until the database takes the new ones: {}",
              folded.error().message);
  return {};
}

Result<std::vector<NameClash>> clashing_names(const std::filesystem::path& file) {
  STARLING_ASSIGN(Connection connection, open_file(file, {.mode = OpenMode::read_only}));
  return clashes_in(connection);
}

Result<std::vector<NameClash>> clashing_names_at(const std::string& url) {
  STARLING_ASSIGN(Connection connection, open_server(url, ServerRole::reader));
  return clashes_in(connection);
}

}  // namespace starling::db
