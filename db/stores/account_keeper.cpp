#include <fmt/core.h>

#include <algorithm>

#include "db/stores/account_rows.h"
#include "db/stores/name_rows.h"
#include "db/stores/sql_logins.h"

namespace starling::db {
namespace {

std::string no_account(AccountId account) { return fmt::format("there is no account {}", account); }

// Runs one statement about one account or computer, inside a write.
template <typename... Values>
Status change(Connection& connection, std::string_view sql, const Values&... values) {
  STARLING_ASSIGN(Statement statement, connection.prepare(sql));
  return statement.bind(values...).run();
}

Status erase_in(Connection& connection, AccountId account, WallTime now) {
  const std::string name = fmt::format("(deleted {})", account);
  const NameKeys keys = keys_of_name(name);
  STARLING_TRY(change(connection,
                      "UPDATE account SET display_name = ?3, name_fold = ?4, name_look = ?5, name_capitals = ?6, "
                      "name_twin = 0, state = 'deleted', deleted_ms = ?2, shows_computers = 0 WHERE id = ?1 AND state "
                      "IN ('active', 'waiting')",
                      account, now.unix_ms, name, keys.fold, keys.look, keys.capitals));
  if (connection.changes() == 0) return Error{ErrorCode::not_found, no_account(account)};
  if (const Status left = leave_team(connection, account);
      !left.ok() && left.error().code != ErrorCode::failed_precondition) {
    return left;
  }
  for (const std::string_view sql :
       {"DELETE FROM login WHERE account_id = ?", "DELETE FROM web_session WHERE account_id = ?",
        "DELETE FROM ticket WHERE account_id = ?",
        "UPDATE host SET label = '', token_hash = NULL, revoked = 1 WHERE account_id = ?"}) {
    STARLING_TRY(change(connection, sql, account));
  }
  return count_revocation(connection);
}

}  // namespace

std::string_view name_of(AccountState state) {
  switch (state) {
    case AccountState::active:
      return "active";
    case AccountState::waiting:
      return "waiting";
    case AccountState::deleted:
      return "deleted";
    case AccountState::anonymous:
      return "anonymous";
  }
  return "";
}

Result<Account> read_account(const Statement& row) {
  Account account{row.integer(0), row.text(1), {row.integer(2)}};
  const std::string state = row.text(3);
  for (const AccountState each :
       {AccountState::active, AccountState::waiting, AccountState::deleted, AccountState::anonymous}) {
    if (state == name_of(each)) account.state = each;
  }
  account.shows_computers = row.integer(4) != 0;
  account.deleted = {row.integer(5)};
  account.confirmed = static_cast<int>(row.integer(6));
  account.vouched = row.integer(7) != 0;
  if (!row.is_null(8)) account.hosts_max = row.integer(8);
  account.auditor = row.integer(9) != 0;
  account.watched_until = {row.integer(10)};
  return account;
}

Result<AccountId> insert_account(Connection& connection, const NewAccount& account) {
  STARLING_TRY(expect_free(connection, kAccountNames, account.display_name));
  const NameKeys keys = keys_of_name(account.display_name);
  STARLING_ASSIGN(Statement insert,
                  connection.prepare("INSERT INTO account (display_name, name_fold, name_look, name_capitals, "
                                     "created_ms, state) VALUES (?, ?, ?, ?, ?, ?) RETURNING id"));
  STARLING_TRY(
      insert
          .bind(account.display_name, keys.fold, keys.look, keys.capitals, account.now.unix_ms, name_of(account.state))
          .step()
          .status());
  return insert.integer(0);
}

Status SqlAccountKeeper::rename(AccountId account, const std::string& display_name) {
  return access_.writes.run([&](Connection& connection) -> Status {
    STARLING_TRY(expect_free(connection, kAccountNames, display_name, std::to_string(account)));
    const NameKeys keys = keys_of_name(display_name);
    STARLING_TRY(change(connection,
                        "UPDATE account SET display_name = ?2, name_fold = ?3, name_look = ?4, name_capitals = ?5, "
                        "name_twin = 0 WHERE id = ?1 AND state IN ('active', 'waiting')",
                        account, display_name, keys.fold, keys.look, keys.capitals));
    if (connection.changes() > 0) return {};
    return Error{ErrorCode::not_found, no_account(account)};
  });
}

Status SqlAccountKeeper::set_state(AccountId account, AccountState state) {
  return update_one(access_, "UPDATE account SET state = ? WHERE id = ? AND state IN ('active', 'waiting')",
                    no_account(account), name_of(state), account);
}

Status SqlAccountKeeper::show_computers(AccountId account, bool shown) {
  return update_one(access_, "UPDATE account SET shows_computers = ? WHERE id = ?", no_account(account), shown,
                    account);
}

Status SqlAccountKeeper::set_vouched(AccountId account, bool vouched) {
  return update_one(access_, "UPDATE account SET vouched = ? WHERE id = ?", no_account(account), vouched, account);
}

Status SqlAccountKeeper::set_auditor(AccountId account, bool auditor) {
  return update_one(access_,
                    "UPDATE account SET auditor = ?, vouched = CASE WHEN ? = 1 THEN 1 ELSE vouched END WHERE id = ?",
                    no_account(account), auditor, auditor, account);
}

Status SqlAccountKeeper::watch(AccountId account, WallTime until) {
  return update_one(access_, "UPDATE account SET watched_until_ms = ? WHERE id = ?", no_account(account), until.unix_ms,
                    account);
}

Status SqlAccountKeeper::set_hosts_max(AccountId account, std::optional<std::int64_t> most) {
  if (!most)
    return update_one(access_, "UPDATE account SET hosts_max = NULL WHERE id = ?", no_account(account), account);
  return update_one(access_, "UPDATE account SET hosts_max = ? WHERE id = ?", no_account(account), *most, account);
}

Status SqlAccountKeeper::label_host(AccountId account, const PeerId& peer, const std::string& label) {
  return update_one(access_, "UPDATE host SET label = ? WHERE account_id = ? AND peer_id = ?",
                    "there is no such computer", label, account, peer);
}

Status SqlAccountKeeper::erase(AccountId account, WallTime now) {
  return access_.writes.run([=](Connection& connection) { return erase_in(connection, account, now); });
}

Result<std::vector<Account>> SqlAccountKeeper::list(AccountState state, int limit, std::int64_t offset) const {
  static const std::string sql = std::string(kAccountColumns) + "WHERE state = ? ORDER BY id LIMIT ? OFFSET ?";
  return select(access_, sql, read_account, name_of(state), std::clamp(limit, 0, kPageRowsMax), offset);
}

}  // namespace starling::db
