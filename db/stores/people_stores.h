// Questions that the coordinator may ask about people: accounts, computers, invites, and all ways into an account. See
// stores.h for rules that hold for every call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/stores/login_stores.h"
#include "db/stores/records.h"
#include "db/stores/team_stores.h"
#include "shared/base/result.h"

namespace starling::db {

// permission_denied unless `shown` equals `kept`, both hashes: the device token shown now, and the one with which the
// host joined. A host that joined without a token may show any or none.
Status check_device_token(const std::optional<Digest>& kept, const std::optional<Digest>& shown);

// Accounts and their computers.
class AccountStore {
 public:
  virtual ~AccountStore() = default;
  // Creates account and host and spends one use of the invite: all of it or nothing. A host that is known already gets
  // its account again and spends nothing, so the request may be repeated when the answer was lost. already_exists: the
  // name is taken. unauthenticated: no such invite. permission_denied: the invite is expired or used up, the host is
  // revoked, or it joined by another device token. A code that links a computer makes no account. Also
  // permission_denied: the account has as many computers as it may have; those that its owner took out do not count.
  virtual Result<AccountId> join(const JoinRequest& request) = 0;
  virtual Result<Account> find_account(AccountId id) const = 0;                           // or not_found
  virtual Result<Account> find_account_named(const std::string& display_name) const = 0;  // or not_found
  virtual Result<Host> find_host(const PeerId& peer) const = 0;                           // or not_found
  virtual Result<std::vector<Host>> hosts_of(AccountId id) const = 0;
  // Notes that the host was heard from, to the minute. Returns at once and promises nothing.
  virtual Status touch_host(const PeerId& peer, WallTime now) = 0;
  // or not_found. permission_denied: an owner cannot let in what the project took out, nor more computers than the
  // account may have (`hosts_max` as in JoinRequest).
  virtual Status set_revoked(const PeerId& peer, bool revoked, Revoker by, std::int64_t hosts_max = 0) = 0;
  // Grows whenever hosts are revoked or let in again.
  virtual Result<std::int64_t> revocations() const = 0;
  // The account's rounds so far count as confirmed no longer. Nothing changes where there is no such account.
  virtual Status restart_probation(AccountId id) = 0;
  // Returns revoked hosts that were heard from at that time or later, the last ones first, at most `most`.
  virtual Result<std::vector<Host>> revoked_since(WallTime since, std::size_t most) const = 0;
  // Returns how many accounts are established, but at most `enough`.
  virtual Result<std::int64_t> established(std::int64_t enough) const = 0;
};

// Invites. They are spent by AccountStore::join alone.
class InviteStore {
 public:
  virtual ~InviteStore() = default;
  virtual Status add(const Invite& invite) = 0;                          // or already_exists
  virtual Result<Invite> find(const Digest& token_hash) const = 0;       // or not_found
  virtual Result<std::vector<Invite>> list(const Page& page) const = 0;  // newest first
  virtual Status withdraw(const Digest& token_hash, WallTime now) = 0;   // expires now; or not_found
};

// The stores of volunteers, their computers and their teams: references into one Database, which must outlive them.
struct PeopleStores {
  AccountStore& accounts;
  AccountKeeper& keeper;
  InviteStore& invites;
  LoginStore& logins;
  SessionStore& sessions;
  TeamStore& teams;
};

}  // namespace starling::db
