// A replica's state on disk, in the safetensors layout, so that other programs can open it too: u64 header length, JSON
// header, raw floats. Tensors "parameters", "optimizer.1", "optimizer.2", …; __metadata__ holds run_id, round,
// state_digest and the format's version.
//
// Files are written under a temporary name, synced and renamed; the newest two are kept. A damaged file is renamed to
// *.corrupt (never deleted), reported by name, and the older one is used.
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

// The identity of a saved state, kept in the file beside the tensors.
struct CheckpointInfo {
  RunId run_id;
  RoundIndex round = 0;
  Digest state_digest;
};

// Not thread-safe; one owner at a time.
class CheckpointStore {
 public:
  // Creates `folder`, in which the files live. A state has parameter_count x (1 + optimizer_vectors) floats.
  CheckpointStore(std::filesystem::path folder, RunId run_id, std::size_t parameter_count, int optimizer_vectors);

  // resource_exhausted when the disk is full; the older files stay.
  Status save(const CheckpointInfo& info, std::span<const float> state);

  // Reads the newest sound checkpoint of this run into `state`; not_found when there is none. The caller computes the
  // state's digest and compares it: this folder does not know how states are named.
  Result<CheckpointInfo> load_newest(std::span<float> state);
  // Sets the newest file aside because its digest is wrong; load_newest then reads the one before.
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
