#include "shared/state/holding_proof.h"

#include <cstring>

#include "shared/crypto/digest.h"
#include "shared/state/state_digest.h"

namespace starling::state {
namespace {

static_assert(kChunksProven * sizeof(std::uint64_t) <= Digest::kSize);

}  // namespace

Digest holding_proof(std::span<const std::uint8_t> challenge, const Digest& state_digest,
                     std::span<const float> state) {
  crypto::Sha256 hash;
  hash.update("starling holding proof v1\n");
  hash.update(challenge);
  hash.update(state_digest.bytes);
  const Digest key = hash.finish();
  hash.update(key.bytes);
  for (std::size_t i = 0; i < kChunksProven; ++i) {
    std::uint64_t pick = 0;
    std::memcpy(&pick, key.bytes.data() + i * sizeof pick, sizeof pick);
    const std::span<const float> chunk = chunk_of(state, pick % chunk_count(state.size()));
    hash.update({reinterpret_cast<const std::uint8_t*>(chunk.data()), chunk.size_bytes()});
  }
  return hash.finish();
}

}  // namespace starling::state
