#include "db/schema/copy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "db/schema/migrate.h"
#include "db/sql/transaction.h"

namespace starling::db {
namespace {

constexpr std::size_t kParametersMax = 8000;  // per INSERT; SQLite takes 32 766, PostgreSQL 65 535
constexpr int kRowsFetched = 4096;            // from a server at a time, which otherwise sends a whole table at once
constexpr const char* kSeeded = "standing_window";  // its rows come with the schema

enum class Kind : std::uint8_t { integer, real, text, blob };
struct Column {
  std::string name;
  Kind kind;
  bool operator==(const Column&) const = default;
};
struct Table {
  std::string name;
  std::vector<Column> columns;  // by name; without computed ones
  bool operator==(const Table&) const = default;
};

struct Blob {
  std::string bytes;
};
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;

bool is_sqlite(const Connection& connection) { return connection.dialect() == Dialect::sqlite; }

std::string quoted_name(std::string_view name) { return fmt::format("\"{}\"", name); }

template <typename Read>
Status each_row(Statement& statement, const Read& read) {
  for (;;) {
    STARLING_ASSIGN(const bool more, statement.step());
    if (!more) return {};
    STARLING_TRY(read(statement));
  }
}

// The columns of the result's rows, as texts.
Result<std::vector<std::vector<std::string>>> texts(Connection& connection, std::string_view sql, int columns) {
  STARLING_ASSIGN(Statement statement, connection.prepare(sql));
  std::vector<std::vector<std::string>> rows;
  STARLING_TRY(each_row(statement, [&](const Statement& row) -> Status {
    std::vector<std::string>& texts = rows.emplace_back();
    for (int i = 0; i < columns; ++i) texts.push_back(row.text(i));
    return {};
  }));
  return rows;
}

Result<Kind> kind_of(std::string_view type) {
  if (type == "INTEGER" || type == "bigint" || type == "integer") return Kind::integer;
  if (type == "REAL" || type == "double precision") return Kind::real;
  if (type == "TEXT" || type == "text" || type == "USER-DEFINED") return Kind::text;
  if (type == "BLOB" || type == "bytea") return Kind::blob;
  return Error{ErrorCode::internal, fmt::format("copy a database: nobody knows the type '{}'", type)};
}

Result<std::vector<Table>> tables_of(Connection& connection) {
  STARLING_ASSIGN(
      const auto rows,
      texts(connection,
            is_sqlite(connection)
                ? "SELECT t.name, c.name, c.type FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c "
                  "WHERE t.type = 'table' AND t.name NOT IN ('schema_version', 'sqlite_sequence') "
                  "ORDER BY t.name, c.name"
                : "SELECT table_name, column_name, data_type FROM information_schema.columns "
                  "WHERE table_schema = current_schema() AND table_name <> 'schema_version' "
                  "AND is_generated = 'NEVER' ORDER BY table_name COLLATE \"C\", column_name COLLATE \"C\"",
            3));
  std::vector<Table> tables;
  for (const auto& row : rows) {
    STARLING_ASSIGN(const Kind kind, kind_of(row[2]));
    if (tables.empty() || tables.back().name != row[0]) tables.push_back({row[0], {}});
    tables.back().columns.push_back({row[1], kind});
  }
  return tables;
}

Status expect_empty(Connection& connection, const std::vector<Table>& tables) {
  for (const Table& table : tables) {
    if (table.name == kSeeded) continue;
    STARLING_ASSIGN(const std::int64_t rows,
                    connection.query_int(fmt::format("SELECT count(*) FROM (SELECT 1 FROM {} LIMIT 1) AS any_row",
                                                     quoted_name(table.name))));
    if (rows > 0) {
      return Error{ErrorCode::already_exists,
                   fmt::format("{} holds a project already ('{}' has rows); it is left as it is", connection.name(),
                               table.name)};
    }
  }
  return {};
}

// Constraints and triggers, which are suspended while rows are copied: the rows obey the constraints already, and
// include all results of the triggers.
struct Rules {
  std::vector<std::string> drop;
  std::vector<std::string> restore;
};

Result<Rules> rules_of(Connection& connection) {
  Rules rules;
  if (is_sqlite(connection)) {
    STARLING_ASSIGN(const auto triggers,
                    texts(connection, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'", 2));
    rules.drop.emplace_back("PRAGMA defer_foreign_keys = ON");  // until the commit
    for (const auto& trigger : triggers) {
      rules.drop.push_back("DROP TRIGGER " + quoted_name(trigger[0]));
      rules.restore.push_back(trigger[1]);
    }
    return rules;
  }
  STARLING_ASSIGN(const auto triggers,
                  texts(connection,
                        "SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger JOIN pg_class ON pg_class.oid = "
                        "tgrelid WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal",
                        1));
  for (const auto& table : triggers) {
    rules.drop.push_back(fmt::format("ALTER TABLE {} DISABLE TRIGGER USER", table[0]));
    rules.restore.push_back(fmt::format("ALTER TABLE {} ENABLE TRIGGER USER", table[0]));
  }
  STARLING_ASSIGN(const auto keys,
                  texts(connection,
                        "SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM "
                        "pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace",
                        3));
  for (const auto& key : keys) {
    rules.drop.push_back(fmt::format("ALTER TABLE {} DROP CONSTRAINT {}", key[0], key[1]));
    rules.restore.push_back(fmt::format("ALTER TABLE {} ADD CONSTRAINT {} {}", key[0], key[1], key[2]));
  }
  return rules;
}

Status execute_all(Connection& connection, const std::vector<std::string>& scripts) {
  for (const std::string& script : scripts) STARLING_TRY(connection.execute(script));
  return {};
}

std::string column_names(const Table& table) {
  std::string names;
  for (const Column& column : table.columns) names += (names.empty() ? "" : ", ") + quoted_name(column.name);
  return names;
}

Cell cell_of(const Statement& row, int index, Kind kind) {
  if (row.is_null(index)) return {};
  switch (kind) {
    case Kind::integer:
      return row.integer(index);
    case Kind::real:
      return row.real(index);
    case Kind::text:
      return row.text(index);
    case Kind::blob:
      return Blob{row.text(index)};
  }
  return {};
}

void bind_cell(Statement& statement, int index, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return statement.bind_at(index, *integer);
  if (const auto* real = std::get_if<double>(&cell)) return statement.bind_at(index, *real);
  if (const auto* text = std::get_if<std::string>(&cell)) return statement.bind_at(index, *text);
  if (const auto* blob = std::get_if<Blob>(&cell)) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(blob->bytes.data());
    return statement.bind_at(index, std::span(data, blob->bytes.size()));
  }
  statement.bind_null_at(index);
}

// Adds rows to a table, many at a time.
class Inserter {
 public:
  Inserter(Connection& to, const Table& table)
      : to_(to), table_(table), cells_max_(kParametersMax / table.columns.size() * table.columns.size()) {}

  Status add(const Statement& row) {
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      cells_.push_back(cell_of(row, static_cast<int>(i), table_.columns[i].kind));
    }
    return cells_.size() < cells_max_ ? Status() : flush();
  }
  Status flush() {
    if (cells_.empty()) return {};
    std::string row;
    for (std::size_t i = 0; i < table_.columns.size(); ++i) row += i == 0 ? "(?" : ", ?";
    std::string sql = fmt::format("INSERT INTO {} ({}) VALUES ", quoted_name(table_.name), column_names(table_));
    for (std::size_t i = 0; i < cells_.size(); i += table_.columns.size()) sql += (i == 0 ? "" : ", ") + row + ")";
    STARLING_ASSIGN(Statement insert, to_.prepare(sql));
    for (std::size_t i = 0; i < cells_.size(); ++i) bind_cell(insert, static_cast<int>(i) + 1, cells_[i]);
    cells_.clear();
    return insert.run();
  }

 private:
  Connection& to_;
  const Table& table_;
  const std::size_t cells_max_;
  std::vector<Cell> cells_;
};

Status copy_rows(Connection& from, Connection& to, const Table& table) {
  Inserter inserter(to, table);
  const auto add = [&](const Statement& row) { return inserter.add(row); };
  const std::string rows = fmt::format("SELECT {} FROM {}", column_names(table), quoted_name(table.name));
  if (is_sqlite(from)) {
    STARLING_ASSIGN(Statement select, from.prepare(rows));
    STARLING_TRY(each_row(select, add));
    return inserter.flush();
  }
  const std::string cursor = "copied_" + table.name;
  STARLING_TRY(from.execute(fmt::format("DECLARE {} NO SCROLL CURSOR FOR {}", cursor, rows)));
  {
    STARLING_ASSIGN(Statement fetch, from.prepare(fmt::format("FETCH {} FROM {}", kRowsFetched, cursor)));
    for (bool more = true; more; fetch.reset()) {
      more = false;
      STARLING_TRY(each_row(fetch, [&](const Statement& row) {
        more = true;
        return add(row);
      }));
    }
  }
  STARLING_TRY(from.execute("CLOSE " + cursor));
  return inserter.flush();
}

bool is_numbered(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(), [](const Column& c) { return c.name == "id"; });
}

// The highest number that a row of the table has ever had.
Result<std::int64_t> last_number(Connection& connection, const std::string& table) {
  STARLING_ASSIGN(const std::int64_t highest,
                  connection.query_int(fmt::format("SELECT coalesce(max(id), 0) FROM {}", quoted_name(table))));
  STARLING_ASSIGN(const std::int64_t given,
                  connection.query_int(
                      is_sqlite(connection)
                          ? fmt::format("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '{}'", table)
                          : fmt::format("SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('\"{}\"', 'id')"
                                        "::regclass), 0)",
                                        table)));
  return std::max(highest, given);
}

// Continues the numbering after `last`. SQLite continues from its highest row by itself, which is too low if later rows
// were deleted.
Status go_on_from(Connection& connection, const std::string& table, std::int64_t last) {
  if (last == 0) return {};
  if (!is_sqlite(connection)) {
    return connection.query_int(fmt::format("SELECT setval(pg_get_serial_sequence('\"{}\"', 'id'), {})", table, last))
        .status();
  }
  return connection.execute(
      fmt::format("UPDATE sqlite_sequence SET seq = max(seq, {0}) WHERE name = '{1}';"
                  "INSERT INTO sqlite_sequence (name, seq) SELECT '{1}', {0} WHERE EXISTS (SELECT 1 FROM sqlite_schema "
                  "WHERE name = '{1}' AND sql LIKE '%AUTOINCREMENT%') AND NOT EXISTS (SELECT 1 FROM sqlite_sequence "
                  "WHERE name = '{1}')",
                  last, table));
}

Status copy_table(Connection& from, Connection& to, const Table& table) {
  if (table.name == kSeeded) STARLING_TRY(to.execute("DELETE FROM " + quoted_name(table.name)));
  STARLING_TRY(copy_rows(from, to, table));
  if (!is_numbered(table)) return {};
  STARLING_ASSIGN(const std::int64_t last, last_number(from, table.name));
  return go_on_from(to, table.name, last);
}

}  // namespace

Status copy_contents(Connection& from, Connection& to) {
  STARLING_ASSIGN(const Transaction moment, Transaction::begin(from, TransactionKind::read));
  STARLING_ASSIGN(Transaction all, Transaction::begin(to, TransactionKind::write));
  STARLING_ASSIGN(const auto tables, tables_of(from));
  STARLING_ASSIGN(const auto there, tables_of(to));
  STARLING_ASSIGN(const std::int64_t version, schema_version(from));
  STARLING_ASSIGN(const std::int64_t version_there, schema_version(to));
  if (version != version_there || tables != there) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("{} has schema {}, and {} has schema {}", from.name(), version, to.name(), version_there)};
  }
  STARLING_TRY(expect_empty(to, tables));
  STARLING_ASSIGN(const Rules rules, rules_of(to));
  STARLING_TRY(execute_all(to, rules.drop));
  for (const Table& table : tables) {
    if (const Status copied = copy_table(from, to, table); !copied) {
      return copied.error().prefixed(fmt::format("copy '{}'", table.name));
    }
  }
  STARLING_TRY(execute_all(to, rules.restore));
  return all.commit();
}

}  // namespace starling::db
