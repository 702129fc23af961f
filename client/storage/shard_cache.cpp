#include "client/storage/shard_cache.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/log.h"

namespace starling::storage {
namespace {

struct File {
  std::filesystem::path path;
  std::int64_t bytes = 0;
  std::filesystem::file_time_type used;
};

std::vector<File> files_in(const std::filesystem::path& folder) {
  std::vector<File> files;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(folder, gone), end; !gone && entry != end; entry.increment(gone)) {
    std::error_code unknown;
    const auto bytes = static_cast<std::int64_t>(entry->file_size(unknown));
    const auto used = entry->last_write_time(unknown);
    if (!unknown) files.push_back({entry->path(), bytes, used});
  }
  return files;
}

// "<digest>.part" is a download's.
bool is_of(const std::filesystem::path& file, const Digest& shard) { return file.stem() == shard.hex(); }

}  // namespace

Result<ShardCache> ShardCache::open(const std::filesystem::path& folder, std::int64_t bytes_max) {
  STARLING_TRY(ensure_directory(folder));
  return ShardCache(folder, bytes_max);
}

void ShardCache::make_room(std::int64_t bytes, const Digest& coming, std::span<const Digest> keep) const {
  std::vector<File> files = files_in(folder_);
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  std::int64_t total = bytes;
  for (const File& file : files) total += is_of(file.path, coming) ? 0 : file.bytes;
  for (const File& file : files) {
    if (total <= bytes_max_) return;
    const bool kept = is_of(file.path, coming) || std::any_of(keep.begin(), keep.end(), [&](const Digest& shard) {
                        return is_of(file.path, shard);
                      });
    std::error_code problem;
    if (kept || !std::filesystem::remove(file.path, problem)) continue;
    log_debug("shard '{}' made room for another", file.path.filename().string());
    total -= file.bytes;
  }
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
