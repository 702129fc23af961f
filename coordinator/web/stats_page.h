// Which files there are for statistics sites, and what is in them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"

namespace starling::web {

struct StatsFile {
  std::string_view name;  // of stats_files()
  std::int64_t bytes = 0;
  std::string sha256;  // as the export has it; empty: it has none
};

struct StatsPageData {
  std::string project;
  std::vector<StatsFile> files;  // none: nothing was exported yet
  std::optional<WallTime> made;
  WallTime now;
};

// What `export stats` left in the folder.
StatsPageData read_stats_folder(const std::filesystem::path& folder);
std::string render_stats_page(const StatsPageData& data);

}  // namespace starling::web
