#include "shared/base/paths.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace starling {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The folder that a variable names; empty where it is unset, or relative: that would be another folder for each folder
// in which a program is started.
std::filesystem::path absolute_folder(const char* variable) {
  std::filesystem::path folder = environment(variable);
  return folder.is_absolute() ? folder : std::filesystem::path();
}

// Empty where the system does not know the user either.
std::filesystem::path home_of_user() {
  if (auto home = absolute_folder("HOME"); !home.empty()) return home;
  constexpr std::size_t kBytes = 4096;
  std::array<char, kBytes> buffer{};
  passwd entry = {};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  const std::filesystem::path home = found->pw_dir;
  return home.is_absolute() ? home : std::filesystem::path();
}

}  // namespace

std::filesystem::path default_data_dir() {
  if (const std::string dir = environment("STARLING_DATA_DIR"); !dir.empty()) return dir;
  if (const auto data = absolute_folder("XDG_DATA_HOME"); !data.empty()) return data / "starling";
  if (const auto home = home_of_user(); !home.empty()) return home / ".local" / "share" / "starling";
  return "starling-data";
}

}  // namespace starling
