#include <fmt/core.h>

#include "db/stores/account_rows.h"
#include "db/stores/name_rows.h"
#include "db/stores/sql_logins.h"

namespace starling::db {
namespace {

constexpr int kClaimsMax = 5;

Result<Login> read_login(const Statement& row) {
  return Login{row.integer(0), row.text(1), {row.integer(2)}, row.text(3)};
}

Status insert_login(Connection& connection, const Login& login) {
  STARLING_ASSIGN(Statement insert,
                  connection.prepare("INSERT INTO login (account_id, email, verified_ms, password) VALUES (?, ?, ?, ?) "
                                     "ON CONFLICT (account_id) DO UPDATE SET email = excluded.email, "
                                     "verified_ms = excluded.verified_ms, password = excluded.password"));
  return insert.bind(login.account_id, login.email, login.verified.unix_ms, login.password).run();
}

Status verify_in(Connection& connection, AccountId account, const std::string& email, WallTime now) {
  STARLING_ASSIGN(
      Statement others,
      connection.prepare("UPDATE login SET email = '', verified_ms = 0 WHERE email = ? AND account_id <> ?"));
  STARLING_TRY(others.bind(email, account).run());
  STARLING_ASSIGN(Statement own,
                  connection.prepare("UPDATE login SET verified_ms = ? WHERE account_id = ? AND email = ?"));
  STARLING_TRY(own.bind(now.unix_ms, account, email).run());
  if (connection.changes() > 0) return {};
  return Error{ErrorCode::failed_precondition, "the account has another address by now"};
}

}  // namespace

Result<AccountId> SqlLoginStore::sign_up(const SignUp& request) {
  AccountId account = 0;
  STARLING_TRY(access_.writes.run([&](Connection& connection) -> Status {
    if (request.invite) STARLING_TRY(spend_invite(connection, *request.invite, request.now));
    STARLING_ASSIGN(account, insert_account(connection, {request.display_name, request.state, request.now}));
    return insert_login(connection, {account, request.email, {}, request.password});
  }));
  return account;
}

Result<Login> SqlLoginStore::find(const std::string& name_or_email) const {
  static const std::string sql = fmt::format(
      "SELECT account_id, email, verified_ms, password FROM login WHERE account_id IN (SELECT {} UNION ALL "
      "SELECT account_id FROM login WHERE email = lower(?1) AND verified_ms > 0) LIMIT 1",
      key_of_name(kAccountNames, "?1", "?2"));
  return only(select(access_, sql, read_login, name_or_email, keys_of_name(name_or_email).fold),
              "nobody logs in by this name");
}

Result<Login> SqlLoginStore::of(AccountId account) const {
  return only(select(access_, "SELECT account_id, email, verified_ms, password FROM login WHERE account_id = ?",
                     read_login, account),
              "the account has no password");
}

Result<std::vector<Login>> SqlLoginStore::claiming(const std::string& email) const {
  if (email.empty()) return std::vector<Login>();
  return select(access_,
                "SELECT account_id, email, verified_ms, password FROM login WHERE email = ? "
                "ORDER BY verified_ms DESC, account_id DESC LIMIT ?",
                read_login, email, kClaimsMax);
}

Status SqlLoginStore::set(const Login& login) {
  return access_.writes.run([&](Connection& connection) { return insert_login(connection, login); });
}

Status SqlLoginStore::verify(AccountId account, const std::string& email, WallTime now) {
  return access_.writes.run([&](Connection& connection) { return verify_in(connection, account, email, now); });
}

}  // namespace starling::db
