// Settings, the audit log, and the accounts for the operator's page.
#include <fmt/core.h>

#include <algorithm>

#include "db/stores/sql_operator.h"

namespace starling::db {
namespace {

constexpr int kOperatorsMax = 1000;

Result<std::string> read_text(const Statement& row) { return row.text(0); }

Result<AuditLine> read_line(const Statement& row) {
  return AuditLine{row.integer(0), {row.integer(1)}, row.text(2), row.text(3), row.text(4), row.text(5)};
}

Result<Operator> read_operator(const Statement& row) { return Operator{row.text(0), row.text(1), {row.integer(2)}}; }

std::string no_operator(const std::string& name) { return fmt::format("there is no operator '{}'", name); }

// Runs one statement; the number of changed rows does not matter.
template <typename... Values>
Status write(const Access& access, std::string_view sql, const Values&... values) {
  return access.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement statement, connection.prepare(sql));
    return statement.bind(values...).run();
  });
}

}  // namespace

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

Status SqlAuditStore::add(const AuditLine& line) {
  return write(access_, "INSERT INTO audit (at_ms, who, action, subject, note) VALUES (?, ?, ?, ?, ?)", line.at.unix_ms,
               line.who, line.action, line.subject, line.note);
}

Result<std::vector<AuditLine>> SqlAuditStore::list(int limit, std::int64_t before) const {
  return select(access_,
                "SELECT id, at_ms, who, action, subject, note FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?",
                read_line, before, std::clamp(limit, 0, kPageRowsMax));
}

Status SqlOperatorStore::set(const Operator& account) {
  return access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement end, connection.prepare("DELETE FROM operator_session WHERE name = ?"));
    STARLING_TRY(end.bind(account.name).run());
    STARLING_ASSIGN(Statement upsert,
                    connection.prepare("INSERT INTO operator (name, password, created_ms) VALUES (?, ?, ?) "
                                       "ON CONFLICT (name) DO UPDATE SET password = excluded.password"));
    return upsert.bind(account.name, account.password, account.created.unix_ms).run();
  });
}

Result<Operator> SqlOperatorStore::find(const std::string& name) const {
  return only(select(access_, "SELECT name, password, created_ms FROM operator WHERE name = ?", read_operator, name),
              no_operator(name));
}

Result<std::vector<Operator>> SqlOperatorStore::list() const {
  return select(access_, "SELECT name, password, created_ms FROM operator ORDER BY name LIMIT ?", read_operator,
                kOperatorsMax);
}

Status SqlOperatorStore::remove(const std::string& name) {
  return update_one(access_, "DELETE FROM operator WHERE name = ?", no_operator(name), name);
}

Status SqlOperatorStore::open(const Digest& token_hash, const std::string& name, WallTime now, WallTime expires) {
  STARLING_TRY(write(access_, "DELETE FROM operator_session WHERE expires_ms <= ?", now.unix_ms));
  return write(access_, "INSERT INTO operator_session (token_hash, name, expires_ms) VALUES (?, ?, ?)", token_hash,
               name, expires.unix_ms);
}

Result<std::string> SqlOperatorStore::session(const Digest& token_hash, WallTime now) const {
  return only(select(access_, "SELECT name FROM operator_session WHERE token_hash = ? AND expires_ms > ?", read_text,
                     token_hash, now.unix_ms),
              "no such session");
}

Status SqlOperatorStore::close(const Digest& token_hash) {
  return write(access_, "DELETE FROM operator_session WHERE token_hash = ?", token_hash);
}

}  // namespace starling::db
