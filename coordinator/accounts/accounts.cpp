#include "coordinator/accounts/accounts.h"

#include <fmt/core.h>

#include <cmath>

#include "coordinator/accounts/credentials.h"
#include "shared/base/log.h"
#include "shared/crypto/secrets.h"
#include "shared/names/display_name.h"

namespace starling::accounts {
namespace {

constexpr KeyedLimits kSignUpLimits{20, 1.0 / 300};  // per address
constexpr KeyedLimits kLetterLimits{5, 1.0 / 600};

Result<std::string> issue(db::SessionStore& sessions, db::Ticket ticket, WallTime now) {
  std::string token = crypto::make_token();
  ticket.token_hash = crypto::hash_token(token);
  ticket.expires = {now.unix_ms + to_ms(Accounts::kLinkLifetime)};
  STARLING_TRY(sessions.issue(ticket, now));
  return token;
}

Error wait_for(Duration wait, std::string_view what) {
  return {ErrorCode::resource_exhausted,
          fmt::format("{}; try again in {:.0f} min", what, std::ceil(to_seconds(wait) / 60))};
}

}  // namespace

Accounts::Accounts(Parts parts)
    : parts_(std::move(parts)),
      guard_([this](const std::string& name) { return parts_.stores.people.logins.find(name); }, parts_.clock,
             parts_.secret, parts_.limits),
      sessions_(parts_.stores.people.sessions, parts_.clock),
      sign_ups_(crypto::random_u64(), parts_.clock.now(), kSignUpLimits),
      letters_(crypto::random_u64(), parts_.clock.now(), kLetterLimits) {}

Result<SignedIn> Accounts::sign_up(const SignUpForm& form, const Caller& caller) {
  db::SignUp request;
  STARLING_ASSIGN(request.display_name, names::check_display_name(form.display_name));
  STARLING_ASSIGN(request.email, check_email(form.email));
  STARLING_TRY(check_new_password(form.password, request.display_name, request.email));
  STARLING_TRY(parts_.bans.admit(0, {}, caller.address));
  if (!form.invite.empty()) {
    request.invite = crypto::hash_token(form.invite);
  } else if (!parts_.policy.open_to_all) {
    return Error{ErrorCode::unauthenticated, "this project needs an invite; ask it for one"};
  }
  const std::string from = limit_key(caller.address);
  if (const Duration wait = from.empty() ? Duration{} : sign_ups_.take(from, parts_.clock.now()); wait > Duration{}) {
    return wait_for(wait, "many accounts were made from this address just now");
  }
  request.now = parts_.clock.wall_now();
  request.state = parts_.policy.approval ? db::AccountState::waiting : db::AccountState::active;
  STARLING_ASSIGN(request.password, guard_.hash(form.password));
  STARLING_ASSIGN(const AccountId account, parts_.stores.people.logins.sign_up(request));
  if (!request.email.empty() && parts_.outbox.open()) (void)send_verification(account).ok();  // can be requested again
  return let_in({account, request.email, {}, request.password});
}

Result<SignedIn> Accounts::log_in(const std::string& name, const std::string& password, const Caller& caller) {
  STARLING_TRY(parts_.bans.admit(0, {}, caller.address));
  STARLING_ASSIGN(const db::Login login, guard_.check(name, password, caller));
  STARLING_TRY(parts_.bans.admit(login.account_id, {}, caller.address));
  return let_in(login);
}

Result<SignedIn> Accounts::let_in(const db::Login& login) {
  STARLING_ASSIGN(std::string session, sessions_.open(login.account_id));
  return SignedIn{login.account_id, std::move(session), guard_.known_browser(login)};
}

Status Accounts::send_verification(AccountId account) {
  STARLING_ASSIGN(const db::Login login, parts_.stores.people.logins.of(account));
  if (login.email.empty()) return Error{ErrorCode::failed_precondition, "the account has no e-mail address"};
  if (login.verified.unix_ms > 0) return {};
  if (!parts_.outbox.open()) {
    return Error{ErrorCode::unavailable, "this project sends no mail; its operator can confirm your address"};
  }
  if (const Duration wait = letters_.take(login.email, parts_.clock.now()); wait > Duration{}) {
    return wait_for(wait, "mail was sent to this address just now");
  }
  STARLING_ASSIGN(const std::string token,
                  issue(parts_.stores.people.sessions, {{}, db::TicketPurpose::verify, account, login.email, {}},
                        parts_.clock.wall_now()));
  return parts_.outbox.leave(
      {login.email, parts_.project + ": is this your address?",
       fmt::format(
           "Somebody, you we hope, gave this address for an account in the project {}.\n\nIf it was you, open\n\n"
           "{}/verify?token={}\n\nwithin 24 hours. If it was not you, do nothing: nobody will write to you "
           "again.\n",
           parts_.project, parts_.web_root, token)});
}

Status Accounts::verify(const std::string& token) {
  const WallTime now = parts_.clock.wall_now();
  STARLING_ASSIGN(const db::Ticket ticket,
                  parts_.stores.people.sessions.spend(crypto::hash_token(token), db::TicketPurpose::verify, now));
  return parts_.stores.people.logins.verify(ticket.account_id, ticket.email, now);
}

// Takes equally long for known and unknown addresses: a ticket for an account is one write, and the letter is only
// queued.
Status Accounts::forgot(const std::string& email, const Caller& caller) {
  STARLING_ASSIGN(const std::string address, check_email(email));
  if (address.empty()) return Error{ErrorCode::invalid_argument, "write the address of your account"};
  const TimePoint now = parts_.clock.now();
  const std::string from = limit_key(caller.address);
  Duration wait = from.empty() ? Duration{} : letters_.take(from, now);
  if (wait == Duration{}) wait = letters_.take(address, now);
  if (wait > Duration{}) return wait_for(wait, "mail was asked for just now");
  STARLING_ASSIGN(const auto logins, parts_.stores.people.logins.claiming(address));
  if (logins.empty()) {  // an equal amount of work
    STARLING_TRY(parts_.stores.operation.settings.keep("unknown address", "").status());
    return {};
  }
  const db::Login& login = logins.front();
  STARLING_ASSIGN(const std::string token,
                  issue(parts_.stores.people.sessions, {{}, db::TicketPurpose::password, login.account_id, address, {}},
                        parts_.clock.wall_now()));
  STARLING_ASSIGN(const db::Account account, parts_.stores.people.accounts.find_account(login.account_id));
  return parts_.outbox.leave(
      {address, parts_.project + ": a new password",
       fmt::format(
           "Somebody, you we hope, asked for a new password for the account '{}' in the project {}.\n\nTo set one, "
           "open\n\n{}/password?token={}\n\nwithin 24 hours. If it was not you, do nothing: the old password "
           "stays.\n",
           account.display_name, parts_.project, parts_.web_root, token)});
}

Status Accounts::new_password(const std::string& token, const std::string& password) {
  const WallTime now = parts_.clock.wall_now();
  const Digest hashed = crypto::hash_token(token);
  STARLING_ASSIGN(const db::Ticket ticket,
                  parts_.stores.people.sessions.look_at(hashed, db::TicketPurpose::password, now));
  STARLING_ASSIGN(const db::Account account, parts_.stores.people.accounts.find_account(ticket.account_id));
  db::Login login{ticket.account_id, "", {}, ""};
  if (const auto kept = parts_.stores.people.logins.of(ticket.account_id); kept.ok()) login = *kept;
  STARLING_TRY(check_new_password(password, account.display_name, login.email));
  STARLING_ASSIGN(login.password, guard_.hash(password));
  STARLING_TRY(parts_.stores.people.sessions.spend(hashed, db::TicketPurpose::password, now).status());
  STARLING_TRY(parts_.stores.people.logins.set(login));
  if (!ticket.email.empty() && ticket.email == login.email) {
    STARLING_TRY(parts_.stores.people.logins.verify(ticket.account_id, ticket.email, now));
  }
  return sessions_.close_all(ticket.account_id);
}

Result<std::string> Accounts::link_code(AccountId account) {
  std::string code = make_code();
  const WallTime now = parts_.clock.wall_now();
  STARLING_TRY(parts_.stores.people.sessions.issue(
      {crypto::hash_token(code), db::TicketPurpose::computer, account, "", {now.unix_ms + to_ms(kCodeLifetime)}}, now));
  return code;
}

Result<std::string> own_secret(db::SettingStore& settings) { return settings.keep("secret", crypto::make_token()); }

Result<std::string> password_link(db::SessionStore& sessions, AccountId account, const std::string& web_root,
                                  WallTime now) {
  STARLING_ASSIGN(const std::string token, issue(sessions, {{}, db::TicketPurpose::password, account, "", {}}, now));
  return fmt::format("{}/password?token={}", web_root, token);
}

Status check_state(const db::Account& account) {
  switch (account.state) {
    case db::AccountState::active:
    case db::AccountState::anonymous:
      return {};
    case db::AccountState::waiting:
      return Error{ErrorCode::permission_denied,
                   fmt::format("the account '{}' waits for the project's approval; join again, in the same way, when "
                               "you have it",
                               account.display_name)};
    case db::AccountState::deleted:
      return Error{ErrorCode::permission_denied, "this account was deleted"};
  }
  return {};
}

}  // namespace starling::accounts
