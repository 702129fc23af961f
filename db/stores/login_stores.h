// Ways in which people reach their accounts: passwords, browsers' sessions, links and codes that work once; and changes
// that owners and operators make to an account. See stores.h for rules that hold for every call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/stores/records.h"
#include "shared/base/result.h"

namespace starling::db {

// The password login of an account.
struct Login {
  AccountId account_id = 0;
  std::string email;     // lower case; empty: none
  WallTime verified;     // when the address was shown to be theirs; 0: not yet
  std::string password;  // a hash (shared/crypto/secrets.h)
};

// A new account with a password. The caller has checked name, address and password.
struct SignUp {
  std::string display_name;
  std::string email;
  std::string password;  // a hash
  std::optional<Digest> invite = {};
  AccountState state = AccountState::active;
  WallTime now = {};
};

// Logins of accounts. Passwords come hashed and are compared by the caller: the store never sees one.
class LoginStore {
 public:
  virtual ~LoginStore() = default;
  // Creates account and login together, spending a use of the invite. Errors as for AccountStore::join.
  virtual Result<AccountId> sign_up(const SignUp& request) = 0;
  // Finds by display name, or by an address that was shown to be theirs; or not_found.
  virtual Result<Login> find(const std::string& name_or_email) const = 0;
  virtual Result<Login> of(AccountId account) const = 0;  // or not_found
  // Accounts that a forgotten password of this address may belong to: the account that it was shown to belong to, else
  // those that claim it, newest first; at most 5.
  virtual Result<std::vector<Login>> claiming(const std::string& email) const = 0;
  virtual Status set(const Login& login) = 0;
  // The address is the account's own from now on, and is removed from other accounts. failed_precondition when the
  // account no longer claims it.
  virtual Status verify(AccountId account, const std::string& email, WallTime now) = 0;
};

// A browser that is logged in.
struct WebSession {
  Digest token_hash;
  AccountId account_id = 0;
  WallTime created;
  WallTime expires;
};

// A ticket is good for one purpose only.
enum class TicketPurpose : std::uint8_t {
  verify,    // an e-mail address is theirs
  password,  // a new password may be set
  computer,  // a computer may be linked to the account
};
std::string_view name_of(TicketPurpose purpose);

// Permission to do one thing once, for the bearer of a token that the store knows only by its hash.
struct Ticket {
  Digest token_hash;
  TicketPurpose purpose = TicketPurpose::verify;
  AccountId account_id = 0;
  std::string email;
  WallTime expires;
};

// Logged-in browsers, and tickets. Both are known by the hash of a token; expired ones count as missing.
class SessionStore {
 public:
  virtual ~SessionStore() = default;
  virtual Status open(const WebSession& session) = 0;                                 // drops expired sessions
  virtual Result<WebSession> find(const Digest& token_hash, WallTime now) const = 0;  // or not_found
  virtual Status close(const Digest& token_hash) = 0;                                 // ok when there is none
  virtual Status close_all(AccountId account, const std::optional<Digest>& but) = 0;
  // At most kTicketsMax for each purpose of an account: older ones are dropped.
  virtual Status issue(const Ticket& ticket, WallTime now) = 0;
  virtual Result<Ticket> look_at(const Digest& token_hash, TicketPurpose purpose, WallTime now) const = 0;
  virtual Result<Ticket> spend(const Digest& token_hash, TicketPurpose purpose, WallTime now) = 0;  // or not_found

  static constexpr int kTicketsMax = 5;
};

// Changes that owners and operators make. All are not_found when there is no such account or computer.
class AccountKeeper {
 public:
  virtual ~AccountKeeper() = default;
  virtual Status rename(AccountId account, const std::string& display_name) = 0;  // or already_exists
  virtual Status set_state(AccountId account, AccountState state) = 0;
  virtual Status show_computers(AccountId account, bool shown) = 0;
  virtual Status label_host(AccountId account, const PeerId& peer, const std::string& label) = 0;
  // The operator answers for the account, or does no longer: it needs no confirmed rounds to have a say.
  virtual Status set_vouched(AccountId account, bool vouched) = 0;
  // The account's computers decide checks of others' work, or do no longer. Who decides is vouched for.
  virtual Status set_auditor(AccountId account, bool auditor) = 0;
  // Each round of its computers is checked before that time.
  virtual Status watch(AccountId account, WallTime until) = 0;
  // The most computers that the account may have, at least 1; nothing: the project's usual number. Those it has stay.
  virtual Status set_hosts_max(AccountId account, std::optional<std::int64_t> most) = 0;
  // Name, login, sessions, tickets and labels are removed, its computers revoked; its contributions stay.
  virtual Status erase(AccountId account, WallTime now) = 0;
  // Accounts in this state, oldest first.
  virtual Result<std::vector<Account>> list(AccountState state, int limit, std::int64_t offset) const = 0;
};

}  // namespace starling::db
