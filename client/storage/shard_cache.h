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
  // `bytes_max`: of all files in the folder, which is made if it is not there.
  static Result<ShardCache> open(const std::filesystem::path& folder, std::int64_t bytes_max);

  [[nodiscard]] std::filesystem::path path_of(const Digest& shard) const { return folder_ / shard.hex(); }
  // Removes files, those that were not used for the longest time first, until one of `bytes` fits; never those of
  // `keep`, nor what has come of the new one, `coming`, so far. Who has a removed file open goes on reading it.
  void make_room(std::int64_t bytes, const Digest& coming, std::span<const Digest> keep) const;
  // Now.
  void mark_used(const Digest& shard) const;

 private:
  ShardCache(std::filesystem::path folder, std::int64_t bytes_max)
      : folder_(std::move(folder)), bytes_max_(bytes_max) {}

  std::filesystem::path folder_;
  std::int64_t bytes_max_;
};

// Of all files in the folder.
std::int64_t bytes_in(const std::filesystem::path& folder);

}  // namespace starling::storage
