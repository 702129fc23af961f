// Asks a run's mirrors for one of its shards, as volunteers will.
#pragma once

#include <filesystem>

#include "coordinator/server/project.h"
#include "shared/base/result.h"
#include "shared/run/data_options.h"

namespace starling::server {

// Fetches the smallest shard from each mirror, one after the other, and says of each on standard error whether it gives
// it out, or why not. failed_precondition when there are mirrors and none does. `scratch` is a folder of the caller's
// own, in which nothing is left.
Status ask_mirrors(const wire::DataOptions& data, const Project& project, const std::filesystem::path& scratch);

}  // namespace starling::server
