// The actions of people who are logged in, and their own data.
#include <fmt/core.h>

#include <map>

#include "coordinator/accounts/credentials.h"
#include "coordinator/web/account_site.h"
#include "coordinator/web/page.h"
#include "coordinator/web/private_pages.h"
#include "shared/base/plain_text.h"
#include "shared/base/short_text.h"
#include "shared/names/display_name.h"
#include "shared/protocol/names.h"

namespace starling::web {
namespace {

constexpr int kLedgerPagesMax = 1000;  // pages of kPageRowsMax lines in an export
constexpr std::size_t kLabelBytesMax = 64;

// Texts that the page shows after a redirect. The address carries only the key, so no link can put other words there.
const std::map<std::string_view, std::string_view>& done_texts() {
  static const std::map<std::string_view, std::string_view> texts = {
      {"saved", "Saved."},
      {"sent", "A link is on its way. Look at your mail."},
      {"password", "The new password is set; other browsers are logged out."},
      {"others", "All other browsers are logged out."},
      {"revoked", "The computer is kept out from now on."},
      {"joined", "You are in the team."},
      {"left", "You have left the team."},
      {"founded", "The team is founded, and you are its first member."},
      {"admitted", "The computer may take part again."}};
  return texts;
}

Result<PeerId> computer_of(const Form& form) { return PeerId::from_hex(form.value("computer")); }

}  // namespace

gate::Response AccountSite::show_account(const Visit& visit) {
  if (!visit.viewer) return redirect("/login");
  return account(visit, {});
}

gate::Response AccountSite::account(const Visit& visit, const Status& problem, const std::string& code) {
  const auto& parts = parts_.accounts.parts();
  const db::Stores& stores = parts.stores;
  AccountPage shown{frame(visit, problem), {}, {}, {}, code, code.empty() ? "" : parts_.join_link(code),
                    parts.outbox.open()};
  if (problem.ok()) {
    const auto text = done_texts().find(visit.request.parameter("done"));
    if (text != done_texts().end()) shown.frame.message = text->second;
  }
  const auto account = stores.people.accounts.find_account(visit.viewer->account_id);
  if (!account) return refuse(visit, "Your account", account.status());
  shown.account = *account;
  if (const auto login = stores.people.logins.of(account->id); login.ok()) shown.login = *login;
  const auto hosts = stores.people.accounts.hosts_of(account->id);
  if (!hosts) return refuse(visit, "Your account", hosts.status());
  shown.hosts = *hosts;
  if (const auto team = stores.people.teams.of(account->id); team.ok()) shown.team = *team;
  if (const auto claims = stores.credit.claims.of(account->id); claims.ok()) shown.unconfirmed = *claims;
  const auto profile = stores.credit.standings.profile({db::Holder::volunteer, account->id, shown.frame.now, 1});
  if (profile.ok()) {
    shown.earned = profile->standing.earned(db::Board::total);
    shown.pending = profile->pending;
  }
  if (const auto checks = stores.credit.checks.sums_of(account->id); checks.ok()) shown.checks = *checks;
  shown.wanted_team = cut_text(visit.request.parameter("team"), wire::kDisplayNameBytesMax);
  return page(visit, render_account(shown), problem.ok() ? 200 : 400);
}

gate::Response AccountSite::export_data(const Visit& visit) {
  if (!visit.viewer) return redirect("/login");
  const auto& parts = parts_.accounts.parts();
  const AccountId id = visit.viewer->account_id;
  PersonalData data{parts.project, {}, {}, {}, {}, {}, parts.clock.wall_now()};
  const auto account = parts.stores.people.accounts.find_account(id);
  const auto hosts = parts.stores.people.accounts.hosts_of(id);
  if (!account || !hosts) return refuse(visit, "Your data", account ? hosts.status() : account.status());
  data.account = *account;
  data.hosts = *hosts;
  if (const auto login = parts.stores.people.logins.of(id); login.ok()) data.login = *login;
  if (const auto claims = parts.stores.credit.claims.of(id); claims.ok()) data.unconfirmed = *claims;
  if (const auto sum = parts.stores.credit.standings.pending(db::Holder::volunteer, id); sum.ok()) data.pending = *sum;
  if (const auto checks = parts.stores.credit.checks.sums_of(id); checks.ok()) data.checks = *checks;
  for (int i = 0; i < kLedgerPagesMax; ++i) {
    const auto lines = parts.stores.training.contributions.entries_of(
        id, {.limit = db::kPageRowsMax, .offset = std::int64_t{i} * db::kPageRowsMax});
    if (!lines) return refuse(visit, "Your data", lines.status());
    data.ledger.insert(data.ledger.end(), lines->begin(), lines->end());
    if (lines->size() < static_cast<std::size_t>(db::kPageRowsMax)) break;
  }
  gate::Response response = page(visit, personal_data_json(data));
  response.content_type = "application/json";
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"starling-account.json\"");
  return response;
}

gate::Response AccountSite::act(const Visit& visit) {
  if (!visit.viewer) return redirect("/login");
  static const std::map<std::string_view, Act> actions = {
      {"profile", &AccountSite::change_profile},  {"email", &AccountSite::change_email},
      {"verify", &AccountSite::ask_verification}, {"password", &AccountSite::change_password},
      {"others", &AccountSite::log_others_out},   {"computer", &AccountSite::label_computer},
      {"revoke", &AccountSite::revoke_computer},  {"admit", &AccountSite::admit_computer},
      {"delete", &AccountSite::delete_account},   {"join-team", &AccountSite::join_team},
      {"leave-team", &AccountSite::leave_team},   {"found-team", &AccountSite::found_team},
  };
  if (visit.request.suffix == "code") {
    const auto code = parts_.accounts.link_code(visit.viewer->account_id);
    return account(visit, code.status(), code ? *code : "");
  }
  const auto action = actions.find(visit.request.suffix);
  if (action == actions.end()) {
    return refuse(visit, "Your account", Error{ErrorCode::not_found, "there is nothing at this address"});
  }
  const Result<std::string> done = (this->*action->second)(visit);
  if (!done) return account(visit, done.status());
  return done->empty() ? redirect("/") : redirect("/account?done=" + *done);
}

// A browser that was left open does not suffice: a change needs the password.
Status AccountSite::check_password(const Visit& visit, std::string_view field) {
  const auto& stores = parts_.accounts.parts().stores;
  STARLING_ASSIGN(const db::Account account, stores.people.accounts.find_account(visit.viewer->account_id));
  const auto checked =
      parts_.accounts.guard().check(account.display_name, visit.form.exact(field),
                                    {visit.request.remote_address, cookie(visit.request, kKnownCookie)});
  if (checked) return {};
  if (checked.error().code != ErrorCode::unauthenticated) return checked.error();
  return Error{ErrorCode::permission_denied, "this is not your password"};
}

Result<std::string> AccountSite::change_profile(const Visit& visit) {
  auto& keeper = parts_.accounts.parts().stores.people.keeper;
  STARLING_ASSIGN(const db::Account account,
                  parts_.accounts.parts().stores.people.accounts.find_account(visit.viewer->account_id));
  // A name that was taken under earlier rules stays as long as its owner likes.
  const std::string wanted = visit.form.value("name");
  if (wanted != plain_line(account.display_name)) {
    STARLING_ASSIGN(const std::string name, names::check_display_name(wanted));
    STARLING_TRY(keeper.rename(account.id, name));
  }
  STARLING_TRY(keeper.show_computers(visit.viewer->account_id, visit.form.value("computers") == "1"));
  return std::string("saved");
}

Result<std::string> AccountSite::change_email(const Visit& visit) {
  auto& logins = parts_.accounts.parts().stores.people.logins;
  STARLING_ASSIGN(const std::string email, accounts::check_email(visit.form.value("email")));
  STARLING_TRY(check_password(visit, "password"));
  STARLING_ASSIGN(db::Login login, logins.of(visit.viewer->account_id));
  if (login.email == email) return std::string("saved");
  login.email = email;
  login.verified = {};
  STARLING_TRY(logins.set(login));
  if (email.empty() || !parts_.accounts.parts().outbox.open()) return std::string("saved");
  STARLING_TRY(parts_.accounts.send_verification(login.account_id));
  return std::string("sent");
}

Result<std::string> AccountSite::ask_verification(const Visit& visit) {
  STARLING_TRY(parts_.accounts.send_verification(visit.viewer->account_id));
  return std::string("sent");
}

Result<std::string> AccountSite::change_password(const Visit& visit) {
  const auto& stores = parts_.accounts.parts().stores;
  const AccountId id = visit.viewer->account_id;
  STARLING_ASSIGN(const db::Account account, stores.people.accounts.find_account(id));
  STARLING_ASSIGN(db::Login login, stores.people.logins.of(id));
  STARLING_TRY(accounts::check_new_password(visit.form.exact("new"), account.display_name, login.email));
  STARLING_TRY(check_password(visit, "old"));
  STARLING_ASSIGN(login.password, parts_.accounts.guard().hash(visit.form.exact("new")));
  STARLING_TRY(stores.people.logins.set(login));
  STARLING_TRY(parts_.accounts.sessions().close_all(id, visit.viewer->session));
  return std::string("password");
}

Result<std::string> AccountSite::log_others_out(const Visit& visit) {
  STARLING_TRY(parts_.accounts.sessions().close_all(visit.viewer->account_id, visit.viewer->session));
  return std::string("others");
}

Result<std::string> AccountSite::label_computer(const Visit& visit) {
  STARLING_ASSIGN(const PeerId peer, computer_of(visit.form));
  STARLING_TRY(parts_.accounts.parts().stores.people.keeper.label_host(
      visit.viewer->account_id, peer, std::string(cut_text(visit.form.value("label"), kLabelBytesMax))));
  return std::string("saved");
}

Result<std::string> AccountSite::revoke_computer(const Visit& visit) {
  STARLING_TRY(set_revoked(visit, true));
  return std::string("revoked");
}

Result<std::string> AccountSite::admit_computer(const Visit& visit) {
  STARLING_TRY(set_revoked(visit, false));
  return std::string("admitted");
}

// Changes only a computer of the visitor's own account.
Status AccountSite::set_revoked(const Visit& visit, bool revoked) {
  auto& store = parts_.accounts.parts().stores.people.accounts;
  STARLING_ASSIGN(const PeerId peer, computer_of(visit.form));
  const auto host = store.find_host(peer);
  if (!host || host->account_id != visit.viewer->account_id) {
    return Error{ErrorCode::not_found, "there is no such computer"};
  }
  return store.set_revoked(peer, revoked, db::Revoker::owner, parts_.accounts.parts().policy.hosts_max);
}

Result<std::string> AccountSite::join_team(const Visit& visit) {
  const auto& parts = parts_.accounts.parts();
  STARLING_TRY(
      parts.stores.people.teams.join(visit.viewer->account_id, visit.form.value("team"), parts.clock.wall_now())
          .status());
  return std::string("joined");
}

Result<std::string> AccountSite::leave_team(const Visit& visit) {
  STARLING_TRY(parts_.accounts.parts().stores.people.teams.leave(visit.viewer->account_id));
  return std::string("left");
}

Result<std::string> AccountSite::found_team(const Visit& visit) {
  const auto& parts = parts_.accounts.parts();
  STARLING_ASSIGN(const std::string name, names::check_display_name(visit.form.value("new-team")));
  STARLING_TRY(parts.stores.people.teams.found(visit.viewer->account_id, name, parts.clock.wall_now()).status());
  return std::string("founded");
}

Result<std::string> AccountSite::delete_account(const Visit& visit) {
  const auto& parts = parts_.accounts.parts();
  STARLING_TRY(check_password(visit, "gone"));
  STARLING_TRY(parts.stores.people.keeper.erase(visit.viewer->account_id, parts.clock.wall_now()));
  return std::string();
}

}  // namespace starling::web
