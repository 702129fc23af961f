// Commands for accounts and computers.
#include <fmt/core.h>

#include "coordinator/accounts/accounts.h"
#include "coordinator/api/run_report.h"
#include "coordinator/operations/people.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "shared/base/clock.h"

namespace starling::server {
namespace {

db::AccountState state_of(UsersListed listed) {
  switch (listed) {
    case UsersListed::active:
      return db::AccountState::active;
    case UsersListed::waiting:
      return db::AccountState::waiting;
    case UsersListed::deleted:
      return db::AccountState::deleted;
  }
  return db::AccountState::active;
}

// The context of a command about one account.
struct Opened {
  Project project;
  std::unique_ptr<db::Database> database;
  db::Account account;
  SystemClock clock = {};
  [[nodiscard]] const db::Stores& stores() const { return database->stores(); }
  [[nodiscard]] operations::Desk desk() const { return desk_of(*database, clock); }
};

Result<Opened> open_for(const UsersOptions& options) {
  STARLING_ASSIGN(Project project, load_project(options.directory));
  STARLING_ASSIGN(auto database, open_database(project));
  STARLING_ASSIGN(db::Account account, database->stores().people.accounts.find_account_named(options.name));
  return Opened{std::move(project), std::move(database), std::move(account)};
}

void print_hosts(const std::vector<db::Host>& hosts) {
  fmt::print("{:<64} {:<17} {:<17} {}\n", "computer", "joined", "last seen", "state");
  for (const db::Host& host : hosts) {
    fmt::print("{:<64} {:<17} {:<17} {}\n", host.peer_id.hex(), local_time(host.created), local_time(host.last_seen),
               host.revoked ? "kept out" : "");
  }
}

Status set_revoked(const UsersOptions& options, bool revoked) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const auto computer = PeerId::from_hex(options.computer);
  if (!computer) {
    return Error{ErrorCode::invalid_argument, fmt::format("'{}' is no computer: 64 hex digits", options.computer)};
  }
  const SystemClock clock;
  STARLING_TRY(operations::set_revoked(desk_of(*database, clock), *computer, revoked));
  fmt::print("computer {} {}\n", computer->brief(), revoked ? "is kept out" : "may take part again");
  return {};
}

}  // namespace

Status list_users(const UsersOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  fmt::print("{:<8} {:<34} {}\n", "account", "name", options.listed == UsersListed::deleted ? "deleted" : "since");
  for (std::int64_t offset = 0;; offset += db::kPageRowsMax) {
    STARLING_ASSIGN(const auto accounts,
                    database->stores().people.keeper.list(state_of(options.listed), db::kPageRowsMax, offset));
    for (const db::Account& account : accounts) {
      fmt::print("{:<8} {:<34} {}\n", account.id, account.display_name,
                 local_time(options.listed == UsersListed::deleted ? account.deleted : account.created));
    }
    if (accounts.size() < static_cast<std::size_t>(db::kPageRowsMax)) return {};
  }
}

Status show_user(const UsersOptions& options) {
  STARLING_ASSIGN(const Opened opened, open_for(options));
  const db::Stores& stores = opened.stores();
  STARLING_ASSIGN(const auto standings, stores.credit.standings.page({.limit = 0, .pinned = options.name}));
  fmt::print("{}, account {}, since {}\n", opened.account.display_name, opened.account.id,
             local_time(opened.account.created));
  if (!opened.account.established()) {
    fmt::print("on probation: {} of {} rounds confirmed\n", opened.account.confirmed, db::kConfirmedEnough);
  } else if (opened.account.vouched) {
    fmt::print("you vouched for it\n");
  }
  if (opened.account.auditor) fmt::print("yours: what its computers find decides checks of others' work\n");
  if (opened.account.watched_until.unix_ms > opened.clock.wall_now().unix_ms) {
    fmt::print("each round of it is checked until {}\n", local_time(opened.account.watched_until));
  }
  fmt::print("may have {} computers\n", opened.account.hosts_max.value_or(opened.project.config.hosts_per_account));
  if (opened.account.state == db::AccountState::waiting) fmt::print("waits for your approval: users approve\n");
  if (standings.pinned) {
    const db::Totals& total = standings.pinned->earned(db::Board::total);
    fmt::print("credit {:.6f} for {} samples\n", credit_of(total), total.samples);
  }
  STARLING_ASSIGN(const db::ClaimSums unconfirmed, stores.credit.claims.of(opened.account.id));
  if (unconfirmed.claims > 0) {
    fmt::print("not confirmed, nor credited: {} samples, in {} rounds of the last 90 days\n", unconfirmed.samples,
               unconfirmed.claims);
  }
  if (const auto login = stores.people.logins.of(opened.account.id); !login.ok()) {
    fmt::print("no password: joined by a link, logs in nowhere\n");
  } else if (!login->email.empty()) {
    fmt::print("e-mail {} ({})\n", login->email, login->verified.unix_ms > 0 ? "confirmed" : "not confirmed");
  }
  STARLING_ASSIGN(const auto hosts, stores.people.accounts.hosts_of(opened.account.id));
  print_hosts(hosts);
  return {};
}

Status approve_user(const UsersOptions& options) {
  STARLING_ASSIGN(const Opened opened, open_for(options));
  STARLING_TRY(operations::approve(opened.desk(), opened.account));
  fmt::print("'{}' may take part\n", opened.account.display_name);
  return {};
}

Status vouch_for_user(const UsersOptions& options) {
  STARLING_ASSIGN(const Opened opened, open_for(options));
  STARLING_TRY(operations::set_vouched(opened.desk(), opened.account, !options.withdraws));
  fmt::print("{}\n", options.withdraws
                         ? fmt::format("'{}' has a say after {} confirmed rounds; it has {}",
                                       opened.account.display_name, db::kConfirmedEnough, opened.account.confirmed)
                         : fmt::format("'{}' has a say now", opened.account.display_name));
  return {};
}

Status make_auditor(const UsersOptions& options) {
  STARLING_ASSIGN(const Opened opened, open_for(options));
  STARLING_TRY(operations::set_auditor(opened.desk(), opened.account, !options.withdraws));
  fmt::print("{}\n", options.withdraws
                         ? fmt::format("'{}' checks others' work like anybody; it has a say still: users vouch "
                                       "--withdraw",
                                       opened.account.display_name)
                         : fmt::format("what computers of '{}' find decides checks of others' work now",
                                       opened.account.display_name));
  return {};
}

Status set_computers(const UsersOptions& options) {
  STARLING_ASSIGN(const Opened opened, open_for(options));
  const auto most = options.computers > 0 ? std::optional(options.computers) : std::nullopt;
  STARLING_TRY(operations::set_hosts_max(opened.desk(), opened.account, most));
  fmt::print("'{}' may have {} computers; those that it has stay\n", opened.account.display_name,
             most.value_or(opened.project.config.hosts_per_account));
  return {};
}

Status new_password_link(const UsersOptions& options) {
  STARLING_ASSIGN(const Opened opened, open_for(options));
  STARLING_ASSIGN(const std::string link,
                  accounts::password_link(opened.stores().people.sessions, opened.account.id,
                                          web_root(opened.project.config), SystemClock().wall_now()));
  STARLING_TRY(operations::note(opened.desk(), "users password-link", opened.account.display_name));
  fmt::print("whoever opens this within 24 hours sets the password of '{}':\n{}\n", opened.account.display_name, link);
  return {};
}

Status confirm_email(const UsersOptions& options) {
  STARLING_ASSIGN(const Opened opened, open_for(options));
  STARLING_ASSIGN(const db::Login login, opened.stores().people.logins.of(opened.account.id));
  if (login.email.empty()) {
    return Error{ErrorCode::failed_precondition, fmt::format("'{}' gave no e-mail address", options.name)};
  }
  STARLING_TRY(opened.stores().people.logins.verify(login.account_id, login.email, SystemClock().wall_now()));
  STARLING_TRY(operations::note(opened.desk(), "users confirm-email", opened.account.display_name));
  fmt::print("{} is the address of '{}'\n", login.email, opened.account.display_name);
  return {};
}

Status delete_user(const UsersOptions& options) {
  STARLING_ASSIGN(const Opened opened, open_for(options));
  STARLING_TRY(operations::remove_account(opened.desk(), opened.account.id));
  fmt::print("the account '{}' is deleted\n", options.name);
  return {};
}

Status list_hosts(const UsersOptions& options) {
  STARLING_ASSIGN(const Opened opened, open_for(options));
  STARLING_ASSIGN(const auto hosts, opened.stores().people.accounts.hosts_of(opened.account.id));
  print_hosts(hosts);
  return {};
}

Status revoke_host(const UsersOptions& options) { return set_revoked(options, true); }

Status admit_host(const UsersOptions& options) { return set_revoked(options, false); }

}  // namespace starling::server
