// The files for statistics sites, as `export stats` made them: which there are, and how they are given out.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "coordinator/gate/router.h"

namespace starling::web {

constexpr std::string_view kStatsTables = "tables.xml";   // when the others were made
constexpr std::string_view kStatsDigests = "SHA256SUMS";  // of the others, as sha256sum writes and checks them
// Names of all, these two too.
std::span<const std::string_view> stats_files();

// 404 for any other name, and while nothing was exported.
gate::Response stats_response(const std::filesystem::path& folder, std::string_view name);

}  // namespace starling::web
