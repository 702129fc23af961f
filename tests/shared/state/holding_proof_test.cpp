#include "shared/state/holding_proof.h"

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <vector>

#include "shared/state/state_digest.h"
#include "shared/wire/frames.h"

using namespace starling;
using namespace starling::state;

namespace {

std::vector<std::uint8_t> challenge(std::uint8_t number) { return std::vector<std::uint8_t>(16, number); }

}  // namespace

TEST_CASE("equal states give equal proofs, and another challenge another proof") {
  std::vector<float> state(1000);
  std::iota(state.begin(), state.end(), 1.0F);
  const Digest name = state_digest(std::span<const float>(state));
  const Digest proof = holding_proof(challenge(1), name, state);
  CHECK(proof == holding_proof(challenge(1), name, std::vector<float>(state)));
  CHECK(proof != holding_proof(challenge(2), name, state));
  // The name alone is not enough: the floats are needed, to the bit.
  state[999] = -state[999];
  CHECK(proof != holding_proof(challenge(1), name, state));
}

TEST_CASE("the challenge picks the chunks, so a part of the state is found out") {
  constexpr std::size_t kChunks = 40;
  std::vector<float> state(kChunks * wire::kStateChunkFloats);
  const Digest name = state_digest(std::span<const float>(state));
  std::vector<float> half = state;
  for (std::size_t chunk = 0; chunk < kChunks / 2; ++chunk) chunk_of(std::span(half), chunk)[0] = 1;
  int found_out = 0;
  for (std::uint8_t asked = 1; asked <= 20; ++asked) {
    found_out += holding_proof(challenge(asked), name, half) != holding_proof(challenge(asked), name, state) ? 1 : 0;
  }
  CHECK(found_out >= 15);
}
