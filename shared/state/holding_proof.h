// Proof that the floats of a state are at hand, in answer to a challenge: a digest over chunks that the challenge
// picks. Equal states give equal proofs, so the coordinator compares members' proofs without holding a state. The work
// is that of kChunksProven chunks, however long the state is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/ids.h"

namespace starling::state {

constexpr std::size_t kChunksProven = 4;  // 1 MiB

// `state` is not empty and has this digest.
Digest holding_proof(std::span<const std::uint8_t> challenge, const Digest& state_digest, std::span<const float> state);

}  // namespace starling::state
