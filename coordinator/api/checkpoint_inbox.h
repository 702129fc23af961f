// A copy of a run's state on its way from a member to the coordinator's disk, piece by piece, one copy at a time. Its
// digest in the end must be the swarm's digest of that state, or it is thrown away.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "coordinator/core/types.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "shared/crypto/digest.h"
#include "shared/protocol/checkpoint.h"

namespace starling::api {

class CheckpointInbox {
 public:
  // Copies get a file of their own in `folder`, named by its digest once it is complete.
  explicit CheckpointInbox(std::filesystem::path folder);

  // Throws away the copy under way, here or in the process that took copies before this one. Comes before the first
  // piece.
  void clear() EXCLUDES(mutex_);

  struct Progress {
    std::int64_t bytes = 0;                      // bytes from the start on; the next piece begins there
    std::optional<wire::Checkpoint> complete{};  // complete, and on the disk
  };
  // Takes a piece from byte `offset` on; one that begins elsewhere than where the last ended changes nothing. The first
  // piece of another copy ends the one before it. corrupt: these were not the bytes of that state, or too many of them;
  // resource_exhausted: the disk is full. After an error the copy begins again.
  Result<Progress> take(const core::CheckpointWanted& wanted, std::int64_t offset, std::string_view bytes)
      EXCLUDES(mutex_);

 private:
  Status begin(const core::CheckpointWanted& wanted) REQUIRES(mutex_);
  Status add(std::string_view bytes) REQUIRES(mutex_);
  Result<wire::Checkpoint> finish() REQUIRES(mutex_);

  const std::filesystem::path folder_;
  Mutex mutex_;
  std::optional<core::CheckpointWanted> copy_ GUARDED_BY(mutex_);  // the copy under way
  UniqueFd file_ GUARDED_BY(mutex_);
  std::int64_t bytes_ GUARDED_BY(mutex_) = 0;
  crypto::Sha256 whole_ GUARDED_BY(mutex_);
  crypto::PiecewiseSha256 state_ GUARDED_BY(mutex_);
};

}  // namespace starling::api
