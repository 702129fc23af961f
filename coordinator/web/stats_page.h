// The page that lists the files for statistics sites and their content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"

namespace starling::web {

// A file of the last export, present on disk.
struct StatsFile {
  std::string_view name;  // one of stats_files()
  std::int64_t bytes = 0;
  std::string sha256;  // listed by the export; empty: not listed
};

// The last export, as it was found on disk.
struct StatsPageData {
  std::string project;
  std::vector<StatsFile> files;  // empty: nothing was exported yet
  std::optional<WallTime> made;
  WallTime now;
};

// Reads the folder that `export stats` wrote.
StatsPageData read_stats_folder(const std::filesystem::path& folder);
std::string render_stats_page(const StatsPageData& data);

}  // namespace starling::web
