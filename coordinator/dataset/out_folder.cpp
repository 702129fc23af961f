#include "coordinator/dataset/out_folder.h"

#include <fmt/core.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "coordinator/dataset/listing.h"
#include "shared/base/log.h"

namespace starling::dataset {
namespace {

// The marker exists and is locked during a preparation; it exists without a lock after one was killed.
constexpr std::string_view kMarkerName = ".preparing";

bool has_nothing(const std::filesystem::path& folder) {
  std::error_code unreadable;
  return std::filesystem::is_empty(folder, unreadable) && !unreadable;
}

// Removes everything but the marker.
void empty(const std::filesystem::path& folder) {
  std::error_code problem;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (entry->path().filename() != kMarkerName && entry->is_regular_file(problem)) files.push_back(entry->path());
  }
  for (const std::filesystem::path& file : files) ::unlink(file.c_str());
}

}  // namespace

std::filesystem::path OutFolder::marker() const { return path_ / kMarkerName; }

Result<OutFolder> OutFolder::open(const std::filesystem::path& path) {
  STARLING_TRY(ensure_directory(path, 0755));
  std::error_code unknown;
  const bool was_cut_off = std::filesystem::exists(path / kMarkerName, unknown);
  if (!was_cut_off && !has_nothing(path)) {
    return Error{ErrorCode::already_exists,
                 fmt::format("'{}' is not empty; choose another folder, or remove it first", path.string())};
  }
  auto lock = FileLock::acquire(path / kMarkerName);
  if (!lock.ok()) return lock.error().prefixed(fmt::format("'{}' is being filled by another process", path.string()));
  if (was_cut_off) {
    log_info("'{}' was being filled by a preparation that was cut off; what it left is removed", path.string());
    empty(path);
  }
  return OutFolder(path, std::move(*lock));
}

OutFolder::OutFolder(OutFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, std::nullopt)) {}

OutFolder::~OutFolder() {
  if (!lock_) return;
  empty(path_);
  ::unlink(marker().c_str());
}

Status OutFolder::finish(const wire::DataOptions& data, std::span<const ImageClass> classes) {
  STARLING_TRY(write_file_atomically(path_ / kListingName, encode_listing(data, classes) + "\n"));
  ::unlink(marker().c_str());
  lock_.reset();
  return {};
}

}  // namespace starling::dataset
