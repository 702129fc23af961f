// This computer's knowledge of a run's states, kept between two sessions in known-state-RUN.json: the newest settled
// state, and the number of the newest statement of the project that it has seen.
#pragma once

#include <cstdint>
#include <filesystem>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::storage {

struct KnownState {
  RoundIndex round = 0;
  Digest state_digest;  // zero: none
  std::int64_t serial = 0;
  friend bool operator==(const KnownState&, const KnownState&) = default;
};

// Nothing is known where there is no file. corrupt: the file cannot be read.
Result<KnownState> load_known_state(const std::filesystem::path& folder, const RunId& run_id);
// Durable when it returns.
Status save_known_state(const std::filesystem::path& folder, const RunId& run_id, const KnownState& known);

}  // namespace starling::storage
