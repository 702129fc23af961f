#include "shared/base/paths.h"

#include <cstdlib>
#include <string>

namespace starling {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::filesystem::path default_data_dir() {
  if (const std::string dir = environment("STARLING_DATA_DIR"); !dir.empty()) return dir;
  if (const std::string data = environment("XDG_DATA_HOME"); !data.empty())
    return std::filesystem::path(data) / "starling";
  if (const std::string home = environment("HOME"); !home.empty()) {
    return std::filesystem::path(home) / ".local" / "share" / "starling";
  }
  return "starling-data";
}

}  // namespace starling
