// Commands for the accounts of the operator's page.
#include <fmt/core.h>

#include <string>

#include "coordinator/accounts/credentials.h"
#include "coordinator/accounts/display_name.h"
#include "coordinator/accounts/password_guard.h"
#include "coordinator/server/commands.h"
#include "shared/base/calendar.h"
#include "shared/base/files.h"

namespace starling::server {
Status add_operator(const OperatorsOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const std::string name, accounts::check_display_name(options.name));
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
  STARLING_TRY(database->stores().operation.operators.set({name, std::move(hash), clock.wall_now()}));
  STARLING_TRY(operations::note(desk_of(*database, clock), "operators add", name));
  fmt::print("'{}' may use the operator's page, where serve --admin opens it\n", name);
  if (!options.password_file.empty()) return {};
  fmt::print("the password, which is shown now and never again:\n{}\n", password);
  return {};
}

Status list_operators(const OperatorsOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_ASSIGN(const auto operators, database->stores().operation.operators.list());
  for (const db::Operator& each : operators) fmt::print("{:<34} since {}\n", each.name, local_time(each.created));
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
