// How a replica's state is named: chunks of wire::kStateChunkFloats floats (the last one may be shorter),
// the SHA-256 of each chunk's little-endian floats, and the SHA-256 of those digests in order: the state digest.
// So every chunk can be checked alone, whoever sent it, in whichever form.
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
// The digest that heartbeats carry: of the concatenated chunk digests.
Digest state_digest(std::span<const Digest> chunk_digests);
Digest state_digest(std::span<const float> state);

}  // namespace starling::state
