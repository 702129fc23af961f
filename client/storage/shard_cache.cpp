#include "client/storage/shard_cache.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/os_error.h"
#include "shared/base/unique_fd.h"

namespace starling::storage {
namespace {

struct File {
  std::filesystem::path path;
  std::int64_t bytes = 0;
  std::filesystem::file_time_type used;
};

// Files in order of last use, the longest unused first.
std::vector<File> files_in(const std::filesystem::path& folder) {
  std::vector<File> files;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(folder, gone), end; !gone && entry != end; entry.increment(gone)) {
    std::error_code unknown;
    const auto bytes = static_cast<std::int64_t>(entry->file_size(unknown));
    const auto used = entry->last_write_time(unknown);
    if (!unknown) files.push_back({entry->path(), bytes, used});
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  return files;
}

// "<digest>.part" is the file of a download.
bool is_of(const std::filesystem::path& file, const Digest& shard) { return file.stem() == shard.hex(); }

// Removes the file if that is allowed; returns whether it is gone.
bool remove_file(const File& file, const Digest& coming, std::span<const Digest> keep) {
  const auto names_it = [&](const Digest& shard) { return is_of(file.path, shard); };
  std::error_code problem;
  if (names_it(coming) || std::any_of(keep.begin(), keep.end(), names_it)) return false;
  if (!std::filesystem::remove(file.path, problem)) return false;
  log_debug("shard '{}' made room for another", file.path.filename().string());
  return true;
}

// Reserves blocks without changing the file's size. Succeeds on file systems that cannot do this.
Status reserve_file(const std::filesystem::path& path, std::int64_t bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return os_error("open", path, errno);
  if (::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, 0, bytes) == 0 || errno == EOPNOTSUPP) return {};
  return os_error(fmt::format("keep {:.1f} MB for", static_cast<double>(bytes) / 1e6), path, errno);
}

}  // namespace

Result<ShardCache> ShardCache::open(const std::filesystem::path& folder, std::int64_t bytes_needed,
                                    std::int64_t bytes_left) {
  STARLING_TRY(ensure_directory(folder));
  ShardCache cache(folder, bytes_needed);
  cache.set_bytes_left(bytes_left);
  return cache;
}

void ShardCache::set_bytes_left(std::int64_t bytes_left) {
  bytes_max_ = std::max(bytes_needed_, bytes_in(folder_) + (bytes_left < 0 ? bytes_left : bytes_left / 2));
}

void ShardCache::make_room(std::int64_t bytes, const Digest& coming, std::span<const Digest> keep) const {
  const std::vector<File> files = files_in(folder_);
  std::int64_t total = bytes;
  for (const File& file : files) total += is_of(file.path, coming) ? 0 : file.bytes;
  for (const File& file : files) {
    if (total <= bytes_max_) return;
    if (remove_file(file, coming, keep)) total -= file.bytes;
  }
}

Status ShardCache::reserve(std::int64_t bytes, const Digest& coming, std::span<const Digest> keep) const {
  std::error_code absent;
  if (std::filesystem::exists(path_of(coming), absent)) return {};
  const std::filesystem::path part = path_of(coming).string() + ".part";
  Status reserved = reserve_file(part, bytes);
  for (const File& file : files_in(folder_)) {
    if (reserved.ok() || reserved.error().code != ErrorCode::resource_exhausted) return reserved;
    if (remove_file(file, coming, keep)) reserved = reserve_file(part, bytes);
  }
  return reserved;
}

void ShardCache::mark_used(const Digest& shard) const {
  std::error_code gone;
  std::filesystem::last_write_time(path_of(shard), std::filesystem::file_time_type::clock::now(), gone);
}

std::int64_t bytes_in(const std::filesystem::path& folder) {
  std::int64_t bytes = 0;
  for (const File& file : files_in(folder)) bytes += file.bytes;
  return bytes;
}

}  // namespace starling::storage
