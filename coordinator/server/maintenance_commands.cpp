// Commands that announce maintenance to volunteers.
#include "coordinator/operations/maintenance.h"

#include <fmt/core.h>

#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "shared/base/calendar.h"
#include "shared/base/shell_words.h"

namespace starling::server {

Status maintenance_on(const MaintenanceOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  operations::Maintenance wanted{options.message};
  if (!options.until.empty()) {
    STARLING_ASSIGN(wanted.until, parse_time(options.until, clock.wall_now()));
  }
  STARLING_TRY(operations::begin_maintenance(desk_of(*database, clock), wanted));
  fmt::print("volunteers are told: {}\n", operations::notice_of(wanted));
  fmt::print("new computers and changes of accounts wait; end it with: starling-coordinator maintenance off {}\n",
             shell_word(options.directory.string()));
  return {};
}

Status maintenance_off(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  STARLING_TRY(operations::end_maintenance(desk_of(*database, clock)));
  fmt::print("the project serves as ever\n");
  return {};
}

Status show_maintenance(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_ASSIGN(const auto maintenance, operations::read_maintenance(database->stores().operation.settings));
  if (!maintenance) {
    fmt::print("off: the project serves as ever\n");
    return {};
  }
  fmt::print("on since {}; volunteers are told: {}\n", local_time(maintenance->since),
             operations::notice_of(*maintenance));
  return {};
}

}  // namespace starling::server
