// Signing up, logging in, and actions on one's own account, for the pages and for programs. Error messages address the
// person.
#pragma once

#include <string>

#include "coordinator/accounts/ban_list.h"
#include "coordinator/accounts/outbox.h"
#include "coordinator/accounts/password_guard.h"
#include "coordinator/accounts/policy.h"
#include "coordinator/accounts/sessions.h"
#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::accounts {

// A person's answers as typed; sign_up() checks them all.
struct SignUpForm {
  std::string display_name;
  std::string email;  // may be empty
  std::string password;
  std::string invite;
};

// A browser that has just logged in.
struct SignedIn {
  AccountId account_id = 0;
  std::string session;        // for its cookie
  std::string known_browser;  // for another cookie, which survives logging out
};

class Accounts {
 public:
  struct Parts {
    std::string project;
    std::string web_root;  // "https://example.org:7300"
    Policy policy;
    const db::Stores& stores;
    const BanList& bans;
    Outbox& outbox;
    const Clock& clock;
    std::string secret;  // the coordinator's own; see own_secret()
    GuardLimits limits = {};
  };
  // Everything that `parts` refers to must outlive this object.
  explicit Accounts(Parts parts);

  Result<SignedIn> sign_up(const SignUpForm& form, const Caller& caller);
  Result<SignedIn> log_in(const std::string& name, const std::string& password, const Caller& caller);
  // Sends a link that proves the account's address.
  Status send_verification(AccountId account);
  // Called when somebody follows that link.
  Status verify(const std::string& token);
  // Sends a link for a new password to the address, if it belongs to an account. The result does not reveal whether it
  // does.
  Status forgot(const std::string& email, const Caller& caller);
  // Sets a password with the token of such a link. Ends all sessions; the address that received the link counts as
  // proven.
  Status new_password(const std::string& token, const std::string& password);
  // A code that links a computer to the account, valid for kCodeLifetime.
  Result<std::string> link_code(AccountId account);

  [[nodiscard]] const Parts& parts() const { return parts_; }
  PasswordGuard& guard() { return guard_; }
  Sessions& sessions() { return sessions_; }

  static constexpr Duration kCodeLifetime = std::chrono::minutes(15);
  static constexpr Duration kLinkLifetime = std::chrono::hours(24);

 private:
  Result<SignedIn> let_in(const db::Login& login);

  const Parts parts_;
  PasswordGuard guard_;
  Sessions sessions_;
  KeyedLimiter sign_ups_;
  KeyedLimiter letters_;  // keyed by network address and by e-mail address
};

// The secret of this coordinator, made when it is first needed.
Result<std::string> own_secret(db::SettingStore& settings);
// A link for a new password, for an operator to hand out.
Result<std::string> password_link(db::SessionStore& sessions, AccountId account, const std::string& web_root,
                                  WallTime now);
// The error for an account that cannot be used now: waiting or deleted.
Status check_state(const db::Account& account);

}  // namespace starling::accounts
