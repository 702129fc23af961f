// A project's statistics for the sites that gather those of many projects, in the files and with the names that BOINC
// projects have (its db_dump), and as JSON lines.
//
//   tables.xml       when, and how many of each
//   SHA256SUMS       of all the others
//   user.gz, team.gz, host.gz, user_deleted.gz, host_deleted.gz              XML
//   user.jsonl.gz, team.jsonl.gz, host.jsonl.gz, …                           an object a line
//
// Those with credit are in them. What was deleted is named by its number for 60 days, so that others forget it too.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "coordinator/server/project.h"
#include "db/stores/stores.h"
#include "shared/base/result.h"

namespace starling::server {

struct StatsCounts {
  std::int64_t users = 0;
  std::int64_t teams = 0;
  std::int64_t hosts = 0;
  std::int64_t deleted = 0;  // users
};

constexpr Duration kTombstoneKept = std::chrono::hours(24 * 60);

// Puts the files in place of those in `folder` all at once: whoever looks sees the old ones or the new ones.
// failed_precondition when something else is in it; already_exists when another process is at it.
Result<StatsCounts> write_stats(const db::Stores& stores, const std::filesystem::path& folder, WallTime now);

}  // namespace starling::server
