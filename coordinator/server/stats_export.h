// A project's statistics for sites that gather those of many projects, in the files and with the names that BOINC
// projects have (its db_dump), and as JSON lines.
//
//   tables.xml       time, and number of each
//   SHA256SUMS       digests of all the others
//   user.gz, team.gz, host.gz, user_deleted.gz, host_deleted.gz              XML
//   user.jsonl.gz, team.jsonl.gz, host.jsonl.gz and so on                    an object a line
//
// They list everything that has credit. Deleted users and hosts are listed by number for 60 days, so that others forget
// them too.
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
  std::int64_t deleted = 0;  // number of users
};

constexpr Duration kTombstoneKept = std::chrono::hours(24 * 60);

// Replaces the files in `folder` all at once: a reader sees the old ones or the new ones. failed_precondition when the
// folder holds anything else; already_exists when another process is writing an export.
Result<StatsCounts> write_stats(const db::Stores& stores, const std::filesystem::path& folder, WallTime now);

}  // namespace starling::server
