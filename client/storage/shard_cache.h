// Shards of a run's data on disk, each under the name of its digest, as many as the volunteer's limits leave room for.
// One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::storage {

class ShardCache {
 public:
  // The folder is made if it is not there. `bytes_needed`: the shards that are in use at a time take so much, at most;
  // `bytes_left`: of the disk, by the volunteer's limits, beside all that is there.
  static Result<ShardCache> open(const std::filesystem::path& folder, std::int64_t bytes_needed,
                                 std::int64_t bytes_left);

  [[nodiscard]] std::filesystem::path path_of(const Digest& shard) const { return folder_ / shard.hex(); }
  // Removes files, those that were not used for the longest time first, until one of `bytes` fits; never those of
  // `keep`, nor what has come of the new one, `coming`, so far. Who has a removed file open goes on reading it.
  void make_room(std::int64_t bytes, const Digest& coming, std::span<const Digest> keep) const;
  // Keeps that room on the disk for its file, so that it can not be full in the middle of a download; removes others as
  // make_room() does where it is full already. resource_exhausted when that does not help.
  [[nodiscard]] Status reserve(std::int64_t bytes, const Digest& coming, std::span<const Digest> keep) const;
  // The limits leave so much now, or less than nothing. Half of what they leave is for shards that may be read again:
  // models grow, too.
  void set_bytes_left(std::int64_t bytes_left);
  // Now.
  void mark_used(const Digest& shard) const;

 private:
  ShardCache(std::filesystem::path folder, std::int64_t bytes_needed)
      : folder_(std::move(folder)), bytes_needed_(bytes_needed) {}

  std::filesystem::path folder_;
  std::int64_t bytes_needed_;
  std::int64_t bytes_max_ = 0;  // of all files in the folder
};

// Of all files in the folder.
std::int64_t bytes_in(const std::filesystem::path& folder);

}  // namespace starling::storage
