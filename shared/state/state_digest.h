// Names of replicas' states: a state is cut into chunks of wire::kStateChunkFloats floats (the last one may be
// shorter); the state digest is the SHA-256 of the SHA-256 digests of the chunks' little-endian floats, in order. So
// every chunk can be checked alone, whichever peer sent it, in whichever form.
#pragma once

#include <span>
#include <vector>

#include "shared/base/ids.h"
#include "shared/wire/frames.h"

namespace starling::state {

std::size_t chunk_count(std::size_t state_floats);
// The floats of one chunk; chunk < chunk_count(state.size()).
std::span<const float> chunk_of(std::span<const float> state, std::size_t chunk);
std::span<float> chunk_of(std::span<float> state, std::size_t chunk);

Digest chunk_digest(std::span<const float> chunk);
std::vector<Digest> chunk_digests(std::span<const float> state);
// The digest that heartbeats carry: the SHA-256 of the concatenated chunk digests.
Digest state_digest(std::span<const Digest> chunk_digests);
Digest state_digest(std::span<const float> state);

}  // namespace starling::state
