// Settings, the audit log, and the accounts for the operator's page.
#include <fmt/core.h>

#include <algorithm>

#include "db/stores/name_rows.h"
#include "db/stores/sql_operator.h"

namespace starling::db {
namespace {

constexpr int kOperatorsMax = 1000;

Result<std::string> read_text(const Statement& row) { return row.text(0); }

Result<AuditLine> read_line(const Statement& row) {
  AuditLine line{row.integer(0), {row.integer(1)}, row.text(2), row.text(3), row.text(4), row.text(5)};
  if (!row.is_null(6)) STARLING_TRY(row.read_id(6, line.digest.emplace()));
  return line;
}

constexpr std::string_view kLine = "SELECT id, at_ms, who, action, subject, note, digest FROM audit ";

Result<Operator> read_operator(const Statement& row) {
  Operator account{row.text(0), row.text(1), {row.integer(2)}};
  STARLING_ASSIGN(account.role, role_named(row.text(3)));
  return account;
}

std::string no_operator(const std::string& name) { return fmt::format("there is no operator '{}'", name); }

// Runs one statement; the number of changed rows does not matter.
template <typename... Values>
Status write(const Access& access, std::string_view sql, const Values&... values) {
  return access.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement statement, connection.prepare(sql));
    return statement.bind(values...).run();
  });
}

// The first lines after `id` that have no digest.
Result<std::vector<AuditLine>> unchained(Connection& connection, std::int64_t id) {
  STARLING_ASSIGN(Statement find,
                  connection.prepare(fmt::format("{}WHERE id > ? AND digest IS NULL ORDER BY id LIMIT ?", kLine)));
  find.bind(id, kPageRowsMax);
  std::vector<AuditLine> lines;
  for (;;) {
    STARLING_ASSIGN(const bool more, find.step());
    if (!more) return lines;
    STARLING_ASSIGN(AuditLine line, read_line(find));
    lines.push_back(std::move(line));
  }
}

// Chains the lines that an older version wrote. Returns the last one's digest.
Result<Digest> chain_old_lines(Connection& connection, const AuditStore::Chain& chain) {
  STARLING_ASSIGN(Statement set, connection.prepare("UPDATE audit SET digest = ? WHERE id = ?"));
  Digest last;
  for (std::int64_t id = 0;;) {
    STARLING_ASSIGN(const auto lines, unchained(connection, id));
    if (lines.empty()) return last;
    for (const AuditLine& line : lines) {
      last = chain(last, line);
      STARLING_TRY(set.bind(last, line.id).run());
      id = line.id;
    }
  }
}

// The digest of the last line that is chained. A line after it that is not was not written by add(): it stays as it is,
// for the check to find.
Result<Digest> last_digest(Connection& connection, const AuditStore::Chain& chain) {
  STARLING_ASSIGN(Statement last, connection.prepare("SELECT digest FROM audit WHERE digest IS NOT NULL "
                                                     "ORDER BY id DESC LIMIT 1"));
  STARLING_ASSIGN(const bool is_chained, last.step());
  if (!is_chained) return chain_old_lines(connection, chain);
  Digest digest;
  STARLING_TRY(last.read_id(0, digest));
  return digest;
}

}  // namespace

std::string_view name_of(OperatorRole role) {
  switch (role) {
    case OperatorRole::all:
      return "operator";
    case OperatorRole::run_manager:
      return "run-manager";
    case OperatorRole::moderator:
      return "moderator";
    case OperatorRole::viewer:
      return "viewer";
  }
  return "";
}

Result<OperatorRole> role_named(std::string_view name) {
  for (const OperatorRole role :
       {OperatorRole::all, OperatorRole::run_manager, OperatorRole::moderator, OperatorRole::viewer}) {
    if (name == name_of(role)) return role;
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("'{}' is no role; there are operator, run-manager, moderator and viewer", name)};
}

Result<std::string> SqlSettingStore::keep(const std::string& name, const std::string& fresh) {
  STARLING_TRY(write(access_, "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", name, fresh));
  STARLING_ASSIGN(const auto kept, find(name));
  return kept.value_or(fresh);
}

Result<std::optional<std::string>> SqlSettingStore::find(const std::string& name) const {
  STARLING_ASSIGN(auto rows, select(access_, "SELECT value FROM setting WHERE name = ?", read_text, name));
  return rows.empty() ? std::optional<std::string>() : std::optional(std::move(rows.front()));
}

Status SqlSettingStore::set(const std::string& name, const std::string& value) {
  return write(access_,
               "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET "
               "value = excluded.value",
               name, value);
}

Status SqlSettingStore::remove(const std::string& name) {
  return write(access_, "DELETE FROM setting WHERE name = ?", name);
}

Status SqlAuditStore::add(const AuditLine& line, const Chain& chain) {
  return access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(const Digest before, last_digest(connection, chain));
    STARLING_ASSIGN(Statement insert,
                    connection.prepare("INSERT INTO audit (at_ms, who, action, subject, note, digest) "
                                       "VALUES (?, ?, ?, ?, ?, ?)"));
    return insert.bind(line.at.unix_ms, line.who, line.action, line.subject, line.note, chain(before, line)).run();
  });
}

Result<std::vector<AuditLine>> SqlAuditStore::list(int limit, std::int64_t before) const {
  return select(access_, fmt::format("{}WHERE id < ? ORDER BY id DESC LIMIT ?", kLine), read_line, before,
                std::clamp(limit, 0, kPageRowsMax));
}

Result<std::vector<AuditLine>> SqlAuditStore::list_on(int limit, std::int64_t after) const {
  return select(access_, fmt::format("{}WHERE id > ? ORDER BY id LIMIT ?", kLine), read_line, after,
                std::clamp(limit, 0, kPageRowsMax));
}

Status SqlOperatorStore::set(const Operator& account) {
  return access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement known, connection.prepare("SELECT 1 FROM operator WHERE name = ?"));
    STARLING_ASSIGN(const bool there, known.bind(account.name).step());
    if (!there) STARLING_TRY(expect_free(connection, kOperatorNames, account.name));
    const NameKeys keys = keys_of_name(account.name);
    STARLING_ASSIGN(Statement end, connection.prepare("DELETE FROM operator_session WHERE name = ?"));
    STARLING_TRY(end.bind(account.name).run());
    STARLING_ASSIGN(Statement upsert,
                    connection.prepare("INSERT INTO operator (name, password, created_ms, role, name_fold, name_look, "
                                       "name_capitals) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
                                       "password = excluded.password, role = excluded.role"));
    return upsert
        .bind(account.name, account.password, account.created.unix_ms, name_of(account.role), keys.fold, keys.look,
              keys.capitals)
        .run();
  });
}

Result<Operator> SqlOperatorStore::find(const std::string& name) const {
  static const std::string sql = fmt::format("SELECT name, password, created_ms, role FROM operator WHERE name = {}",
                                             key_of_name(kOperatorNames, "?1", "?2"));
  return only(select(access_, sql, read_operator, name, keys_of_name(name).fold), no_operator(name));
}

Result<std::vector<Operator>> SqlOperatorStore::list() const {
  return select(access_, "SELECT name, password, created_ms, role FROM operator ORDER BY name LIMIT ?", read_operator,
                kOperatorsMax);
}

Status SqlOperatorStore::set_role(const std::string& name, OperatorRole role) {
  static const std::string sql =
      fmt::format("UPDATE operator SET role = ?3 WHERE name = {}", key_of_name(kOperatorNames, "?1", "?2"));
  return update_one(access_, sql, no_operator(name), name, keys_of_name(name).fold, name_of(role));
}

Status SqlOperatorStore::remove(const std::string& name) {
  static const std::string sql =
      fmt::format("DELETE FROM operator WHERE name = {}", key_of_name(kOperatorNames, "?1", "?2"));
  return update_one(access_, sql, no_operator(name), name, keys_of_name(name).fold);
}

Status SqlOperatorStore::open(const Digest& token_hash, const std::string& name, WallTime now, WallTime expires) {
  STARLING_TRY(write(access_, "DELETE FROM operator_session WHERE expires_ms <= ?", now.unix_ms));
  return write(access_, "INSERT INTO operator_session (token_hash, name, expires_ms) VALUES (?, ?, ?)", token_hash,
               name, expires.unix_ms);
}

Result<Operator> SqlOperatorStore::session(const Digest& token_hash, WallTime now) const {
  return only(select(access_,
                     "SELECT o.name, o.password, o.created_ms, o.role FROM operator_session AS s JOIN operator AS o ON "
                     "o.name = s.name WHERE s.token_hash = ? AND s.expires_ms > ?",
                     read_operator, token_hash, now.unix_ms),
              "no such session");
}

Status SqlOperatorStore::close(const Digest& token_hash) {
  return write(access_, "DELETE FROM operator_session WHERE token_hash = ?", token_hash);
}

}  // namespace starling::db
