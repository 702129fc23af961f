#include "shared/state/state_digest.h"

#include <algorithm>
#include <bit>

#include "shared/base/verify.h"
#include "shared/crypto/digest.h"

namespace starling::state {
namespace {

// Floats are sent and hashed as they lie in memory.
static_assert(std::endian::native == std::endian::little && sizeof(float) == 4);

template <typename T>
std::span<T> chunk_in(std::span<T> state, std::size_t chunk) {
  VERIFY(chunk < chunk_count(state.size()));
  const std::size_t first = chunk * wire::kStateChunkFloats;
  return state.subspan(first, std::min(wire::kStateChunkFloats, state.size() - first));
}

}  // namespace

std::size_t chunk_count(std::size_t state_floats) {
  return (state_floats + wire::kStateChunkFloats - 1) / wire::kStateChunkFloats;
}

std::span<const float> chunk_of(std::span<const float> state, std::size_t chunk) { return chunk_in(state, chunk); }
std::span<float> chunk_of(std::span<float> state, std::size_t chunk) { return chunk_in(state, chunk); }

Digest chunk_digest(std::span<const float> chunk) {
  return crypto::sha256({reinterpret_cast<const std::uint8_t*>(chunk.data()), chunk.size_bytes()});
}

std::vector<Digest> chunk_digests(std::span<const float> state) {
  std::vector<Digest> digests(chunk_count(state.size()));
  for (std::size_t i = 0; i < digests.size(); ++i) digests[i] = chunk_digest(chunk_of(state, i));
  return digests;
}

Digest state_digest(std::span<const Digest> chunk_digests) {
  crypto::Sha256 hash;
  for (const Digest& digest : chunk_digests) hash.update(digest.bytes);
  return hash.finish();
}

Digest state_digest(std::span<const float> state) { return state_digest(chunk_digests(state)); }

}  // namespace starling::state
