// Helpers that the stores about accounts share. Inside db/stores only.
#pragma once

#include <string_view>

#include "db/stores/sql_stores.h"

namespace starling::db {

constexpr std::string_view kAccountColumns =
    "SELECT id, display_name, created_ms, state, shows_computers, deleted_ms, confirmed, vouched, hosts_max, "
    "auditor, watched_until_ms FROM account ";
// No volunteer can take it: names hold no parentheses.
constexpr std::string_view kAnonymousName = "(anonymous)";

Result<Account> read_account(const Statement& row);
std::string_view name_of(AccountState state);

// Everything below runs inside a write of the caller's.
struct NewAccount {
  std::string display_name;
  AccountState state = AccountState::active;
  WallTime now;
};
Result<AccountId> insert_account(Connection& connection, const NewAccount& account);  // already_exists: name taken
Status leave_team(Connection& connection, AccountId account);  // failed_precondition: they are in no team
Status count_revocation(Connection& connection);               // see AccountStore::revocations()
Status spend_invite(Connection& connection, const Digest& token_hash, WallTime now);

}  // namespace starling::db
