#include "client/storage/set_aside.h"

#include <fmt/core.h>

#include <system_error>

#include "shared/base/log.h"

namespace starling::storage {
namespace {

constexpr int kNamesTried = 1000;

}  // namespace

Result<std::string> set_aside(const std::filesystem::path& path, const std::string& reason) {
  std::filesystem::path aside = path.string() + ".corrupt";
  std::error_code problem;
  for (int i = 2; i < kNamesTried && std::filesystem::exists(aside, problem); ++i) {
    aside = fmt::format("{}.corrupt.{}", path.string(), i);
  }
  std::filesystem::rename(path, aside, problem);
  if (problem) {
    return Error{ErrorCode::io,
                 fmt::format("rename '{}' to '{}': {}", path.string(), aside.string(), problem.message())};
  }
  std::string told =
      fmt::format("'{}' is damaged ({}); it is kept as '{}'", path.string(), reason, aside.filename().string());
  log_warning("{}", told);
  return told;
}

void remove_leftovers(const std::filesystem::path& folder) {
  std::error_code problem;
  for (std::filesystem::directory_iterator entries(folder, problem), end; !problem && entries != end;
       entries.increment(problem)) {
    if (entries->path().filename().string().find(".tmp-") == std::string::npos) continue;
    std::error_code ignored;
    std::filesystem::remove(entries->path(), ignored);
  }
}

}  // namespace starling::storage
