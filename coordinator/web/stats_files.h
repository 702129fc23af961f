// The files for statistics sites, as `export stats` wrote them, and the responses that deliver them.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "coordinator/gate/router.h"

namespace starling::web {

constexpr std::string_view kStatsTables = "tables.xml";   // says when the other files were made
constexpr std::string_view kStatsDigests = "SHA256SUMS";  // digests of the others, as sha256sum writes and checks them
// The names of all files, these two included.
std::span<const std::string_view> stats_files();

// 404 for any other name, and as long as nothing was exported.
gate::Response stats_response(const std::filesystem::path& folder, std::string_view name);

}  // namespace starling::web
