// Copies of a run's state that the coordinator keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::wire {

// A copy of the state at the start of a round that the coordinator keeps and serves, as an artefact: the floats in
// memory order, little-endian.
struct Checkpoint {
  RoundIndex round = 0;
  Digest state_digest;
  Artefact file;
};
constexpr std::size_t kCheckpointPieceBytes = 96 * 1024;
// The coordinator's part of an upload that may be cut off at any byte.
struct CheckpointReply {
  std::int64_t bytes = 0;  // bytes from the start on that the coordinator has; the next piece begins there
};

std::string encode(const CheckpointReply& message);
// corrupt for bytes that are not JSON; invalid_argument, naming the field, for values out of range.
Result<CheckpointReply> decode_checkpoint_reply(std::string_view json);

}  // namespace starling::wire
