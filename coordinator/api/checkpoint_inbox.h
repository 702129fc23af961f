// Copies of states on their way from members to the coordinator's disk, piece by piece: one of a run at a time, and one
// of each cell of its model. A copy's digest in the end must be the swarm's digest of that state, or it is thrown away.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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

  // Throws away the copies under way, here or in the process that took copies before this one. Comes before the first
  // piece.
  void clear() EXCLUDES(mutex_);

  struct Progress {
    std::int64_t bytes = 0;                      // bytes from the start on; the next piece begins there
    std::optional<wire::Checkpoint> complete{};  // complete, and on the disk
  };
  // Takes a piece from byte `offset` on; one that begins elsewhere than where the last ended changes nothing. The first
  // piece of another copy of that run or cell ends the one before it. corrupt: these were not the bytes of that state,
  // or too many of them; resource_exhausted: the disk is full. After an error the copy begins again.
  Result<Progress> take(const core::CheckpointWanted& wanted, std::int64_t offset, std::string_view bytes)
      EXCLUDES(mutex_);

 private:
  // The copy under way of a run or a cell.
  struct Copy {
    core::CheckpointWanted wanted;
    UniqueFd file;
    std::int64_t bytes = 0;
    crypto::Sha256 whole;
    crypto::PiecewiseSha256 state;
  };
  [[nodiscard]] std::filesystem::path path_of(const RunId& run) const;
  [[nodiscard]] Result<Copy> begin(const core::CheckpointWanted& wanted) const;
  Status add(Copy& copy, std::string_view bytes) const;
  Result<wire::Checkpoint> finish(Copy& copy) const;

  const std::filesystem::path folder_;
  Mutex mutex_;
  std::map<RunId, Copy> copies_ GUARDED_BY(mutex_);
};

}  // namespace starling::api
