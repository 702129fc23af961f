#include <fmt/core.h>

#include "coordinator/server/commands.h"
#include "coordinator/server/stats_export.h"

namespace starling::server {

Status export_stats(const StatsOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const std::filesystem::path folder = options.folder.empty() ? project.files.stats() : options.folder;
  STARLING_ASSIGN(const StatsCounts counts, write_stats(database->stores(), folder, SystemClock().wall_now()));
  fmt::print("{} volunteers, {} teams, {} computers and {} deleted accounts are in '{}'\n", counts.users, counts.teams,
             counts.hosts, counts.deleted, folder.string());
  return {};
}

}  // namespace starling::server
