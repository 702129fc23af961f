// A cache of the run's data shards on disk, each named by its digest, within the volunteer's limits. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::storage {

class ShardCache {
 public:
  // Makes the folder if it is missing. `bytes_needed`: most bytes of shards that are in use at one time; `bytes_left`:
  // bytes that the volunteer's limits leave, besides all present files.
  static Result<ShardCache> open(const std::filesystem::path& folder, std::int64_t bytes_needed,
                                 std::int64_t bytes_left);

  [[nodiscard]] std::filesystem::path path_of(const Digest& shard) const { return folder_ / shard.hex(); }
  // Removes files, the longest unused first, until one of `bytes` fits; never those in `keep`, nor the partial file of
  // the new shard, `coming`. A process that has a removed file open can still read it.
  void make_room(std::int64_t bytes, const Digest& coming, std::span<const Digest> keep) const;
  // Reserves disk space for the new shard, so that the disk cannot become full in the middle of a download; removes
  // others as make_room() does if it is full already. resource_exhausted when that does not help.
  [[nodiscard]] Status reserve(std::int64_t bytes, const Digest& coming, std::span<const Digest> keep) const;
  // Sets the number of bytes that the limits leave now; negative when they are exceeded. Half of it is for shards that
  // may be read again: models grow, too.
  void set_bytes_left(std::int64_t bytes_left);
  // Sets the time of last use to now.
  void mark_used(const Digest& shard) const;

 private:
  ShardCache(std::filesystem::path folder, std::int64_t bytes_needed)
      : folder_(std::move(folder)), bytes_needed_(bytes_needed) {}

  std::filesystem::path folder_;
  std::int64_t bytes_needed_;
  std::int64_t bytes_max_ = 0;  // bound of all files in the folder
};

// Total size of all files in the folder.
std::int64_t bytes_in(const std::filesystem::path& folder);

}  // namespace starling::storage
