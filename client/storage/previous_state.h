// The replica's state before its last step, for the case that the step turns out not to count. It lies in a file
// without a name, which is gone when the process ends. The file is usually emptied within a heartbeat, before the
// system has written any of it to the disk.
#pragma once

#include <filesystem>
#include <span>
#include <utility>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

namespace starling::storage {

// Not thread-safe; one owner at a time.
class PreviousState {
 public:
  // The file is made in `folder`, which exists, when a state is kept for the first time.
  explicit PreviousState(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Replaces what was kept. On an error (resource_exhausted: the disk is full) nothing is kept.
  Status keep(std::span<const float> state, const Digest& digest);
  // Writes what was kept over `state`. not_found unless that is the state with this digest, and as long as `state`; on
  // another error `state` may be anything.
  Status restore(const Digest& digest, std::span<float> state) const;
  void forget();
  // Gives the file away: [parameters | moments] of what was kept, which counts as forgotten. Invalid if nothing is
  // kept.
  struct Given {
    UniqueFd file;
    Digest digest;
  };
  [[nodiscard]] Given give();

 private:
  std::filesystem::path folder_;
  UniqueFd file_;
  Digest digest_;  // zero: nothing is kept
  std::size_t bytes_ = 0;
};

}  // namespace starling::storage
