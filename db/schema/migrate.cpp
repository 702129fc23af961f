#include "db/schema/migrate.h"

#include <fmt/core.h>

#include <string>

#include "db/sql/transaction.h"

namespace starling::db {
namespace {

constexpr std::int64_t kApplicationId = 0x5374726c;  // "Strl", in the file's header, where file(1) finds it

bool is_sqlite(const Connection& connection) { return connection.dialect() == Dialect::sqlite; }

Status refuse_foreign(Connection& connection) {
  std::int64_t id = 0;
  if (is_sqlite(connection)) {
    STARLING_ASSIGN(id, connection.query_int("PRAGMA application_id"));
    if (id == kApplicationId) return {};
  } else {
    STARLING_ASSIGN(const std::int64_t version, schema_version(connection));
    if (version > 0) return {};
  }
  STARLING_ASSIGN(const std::int64_t tables,
                  connection.query_int(is_sqlite(connection)
                                           ? "SELECT count(*) FROM sqlite_schema"
                                           : "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"));
  if (id == 0 && tables == 0) return {};  // new and empty
  return Error{ErrorCode::corrupt, fmt::format("{} was not made by Starling; it is left as it is", connection.name())};
}

Status refuse_newer(Connection& connection, std::int64_t version, int known) {
  if (version <= known) return {};
  return Error{
      ErrorCode::unsupported,
      fmt::format("{} has schema {}, made by a newer Starling; this one knows schemas up to {}. Install the newer "
                  "version again, or restore a backup made before the upgrade",
                  connection.name(), version, known)};
}

Status create_bookkeeping(Connection& connection) {
  const std::string table =
      "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL)";
  if (!is_sqlite(connection)) return connection.execute(table);
  STARLING_TRY(connection.execute(fmt::format("PRAGMA application_id = {}", kApplicationId)));
  return connection.execute(table + " STRICT");
}

// The version is read again inside the transaction: another process may have been quicker.
Status apply(Connection& connection, const Migration& migration) {
  STARLING_ASSIGN(Transaction transaction, Transaction::begin(connection, TransactionKind::write));
  STARLING_ASSIGN(const std::int64_t version, schema_version(connection));
  if (version >= migration.version) return {};
  STARLING_TRY(create_bookkeeping(connection));
  STARLING_TRY(connection.execute(migration.sql));
  STARLING_ASSIGN(Statement note, connection.prepare("INSERT INTO schema_version (version, name) VALUES (?, ?)"));
  STARLING_TRY(note.bind(migration.version, migration.name).run());
  return transaction.commit();
}

}  // namespace

Result<std::int64_t> schema_version(Connection& connection) {
  STARLING_ASSIGN(const std::int64_t exists,
                  connection.query_int(is_sqlite(connection)
                                           ? "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'"
                                           : "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND "
                                             "tablename = 'schema_version'"));
  if (exists == 0) return 0;
  return connection.query_int("SELECT max(version) FROM schema_version");
}

Status migrate(Connection& connection) {
  return migrate(connection, is_sqlite(connection) ? sqlite_migrations() : postgres_migrations());
}

Status migrate(Connection& connection, std::span<const Migration> scripts) {
  STARLING_TRY(refuse_foreign(connection));
  STARLING_ASSIGN(const std::int64_t version, schema_version(connection));
  STARLING_TRY(refuse_newer(connection, version, scripts.empty() ? 0 : scripts.back().version));
  for (const Migration& migration : scripts) {
    if (migration.version <= version) continue;
    if (Status applied = apply(connection, migration); !applied) {
      return applied.error().prefixed(fmt::format("migration {} ({})", migration.version, migration.name));
    }
  }
  return {};
}

}  // namespace starling::db
