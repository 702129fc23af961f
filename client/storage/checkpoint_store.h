// A replica's state on disk, in the safetensors layout: u64 header length, JSON header, raw floats, so that the
// rest of the world can open it too. Tensors "parameters", "optimizer.1", "optimizer.2", …; __metadata__ holds
// run_id, round, state_digest and the format's version.
//
// Files are written beside, synced and renamed; the newest two are kept. A file that is not what it claims to be
// is renamed to *.corrupt (never deleted), reported by name, and the older one is used.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::storage {

constexpr std::size_t kCheckpointHeaderMax = 1 << 20;
constexpr int kCheckpointsKept = 2;

struct CheckpointInfo {
  RunId run_id;
  RoundIndex round = 0;
  Digest state_digest;
};

// Not thread-safe; one owner at a time.
class CheckpointStore {
 public:
  // Files live in `folder`, which is created. parameter_count x (1 + optimizer_vectors) floats a state.
  CheckpointStore(std::filesystem::path folder, RunId run_id, std::size_t parameter_count, int optimizer_vectors);

  // resource_exhausted when the disk is full: the older files stay as they are.
  Status save(const CheckpointInfo& info, std::span<const float> state);

  // The newest sound checkpoint of this run into `state`; not_found when there is none. The caller computes the
  // digest of what was read and compares it: this folder does not know how states are named.
  Result<CheckpointInfo> load_newest(std::span<float> state);
  // Sets the newest file aside (its digest turned out wrong); load_newest then gives the one before.
  Status set_newest_aside(const std::string& reason);
  // One sentence for each file that was set aside.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::filesystem::path folder_;
  RunId run_id_;
  std::size_t parameter_count_;
  int optimizer_vectors_;
  std::vector<std::string> problems_;
};

}  // namespace starling::storage
