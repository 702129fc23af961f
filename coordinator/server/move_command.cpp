// The command for a project that has outgrown its file.
#include <fmt/core.h>

#include "coordinator/server/commands.h"
#include "coordinator/server/name_clashes.h"
#include "db/stores/database.h"

namespace starling::server {

Status move_database(const MoveOptions& options) {
  STARLING_ASSIGN(Project project, load_project(options.directory));
  if (!project.config.database.empty()) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("the database is on a server already, at {}; to have it in a file again, make a backup "
                             "and restore that",
                             database_place(project))};
  }
  STARLING_ASSIGN(const FileLock unserved, lock_against_serving(project));
  {
    STARLING_ASSIGN(const auto from, open_database(project));
    if (const Status names = check_names(project); !names.ok()) fmt::print("note: {}\n", names.error().message);
    STARLING_TRY(from->copy_to_server(options.to));
  }
  project.config.database = options.to;
  STARLING_ASSIGN(const auto moved, open_database(project));
  STARLING_TRY(moved->check());
  STARLING_TRY(write_config(project.files, project.config));
  fmt::print(
      "the database is at {} from now on, and its ledger adds up; '{}' is not used any more: keep it until you have a "
      "backup\n",
      database_place(project), project.files.database().string());
  return {};
}

}  // namespace starling::server
