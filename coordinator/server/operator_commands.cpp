// Commands for the accounts of the operator's page.
#include <fmt/core.h>

#include <string>

#include "coordinator/accounts/credentials.h"
#include "coordinator/accounts/password_guard.h"
#include "coordinator/server/commands.h"
#include "shared/base/calendar.h"
#include "shared/base/files.h"
#include "shared/names/display_name.h"

namespace starling::server {
namespace {

// The account's name, as it is written there if it exists already, and the role that it is to have: the wanted one,
// else its own, else all.
Result<db::Operator> account_for(const db::OperatorStore& operators, const std::string& name,
                                 const std::string& wanted) {
  db::Operator account;
  account.name = name;
  const auto known = operators.find(name);
  if (!known && known.error().code != ErrorCode::not_found) return known.error();
  if (known) account = *known;
  if (!wanted.empty()) {
    STARLING_ASSIGN(account.role, db::role_named(wanted));
  }
  return account;
}

}  // namespace

Status add_operator(const OperatorsOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const std::string name, names::check_display_name(options.name));
  std::string password = accounts::make_passphrase();
  if (!options.password_file.empty()) {
    constexpr std::size_t kFileBytesMax = 1024;
    auto text = read_file(options.password_file, kFileBytesMax);
    if (!text) return text.error().prefixed("--password-file");
    password = text->substr(0, text->find('\n'));
    STARLING_TRY(accounts::check_new_password(password, name, ""));
  }
  STARLING_ASSIGN(std::string hash, accounts::hash_for_keeping(password));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  db::OperatorStore& operators = database->stores().operation.operators;
  STARLING_ASSIGN(db::Operator account, account_for(operators, name, options.role));
  account.password = std::move(hash);
  account.created = clock.wall_now();
  STARLING_TRY(operators.set(account));
  STARLING_TRY(operations::note(desk_of(*database, clock), "operators add", account.name, name_of(account.role)));
  fmt::print("'{}' may use the operator's page as {}, where serve --admin opens it\n", account.name,
             name_of(account.role));
  if (!options.password_file.empty()) return {};
  fmt::print("the password, which is shown now and never again:\n{}\n", password);
  return {};
}

Status set_operator_role(const OperatorsOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const db::OperatorRole role, db::role_named(options.role));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_TRY(database->stores().operation.operators.set_role(options.name, role));
  const SystemClock clock;
  STARLING_TRY(operations::note(desk_of(*database, clock), "operators role", options.name, name_of(role)));
  fmt::print("'{}' is {} from now on\n", options.name, name_of(role));
  return {};
}

Status list_operators(const OperatorsOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_ASSIGN(const auto operators, database->stores().operation.operators.list());
  for (const db::Operator& each : operators) {
    fmt::print("{:<34} {:<12} since {}\n", each.name, name_of(each.role), local_time(each.created));
  }
  return {};
}

Status remove_operator(const OperatorsOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_TRY(database->stores().operation.operators.remove(options.name));
  const SystemClock clock;
  STARLING_TRY(operations::note(desk_of(*database, clock), "operators remove", options.name));
  fmt::print("'{}' is logged out, and may not use the operator's page any more\n", options.name);
  return {};
}

}  // namespace starling::server
