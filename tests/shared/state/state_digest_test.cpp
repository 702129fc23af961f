#include "shared/state/state_digest.h"

#include <doctest/doctest.h>

#include <numeric>

#include "shared/crypto/digest.h"

using namespace starling;
using namespace starling::state;

namespace {

std::vector<float> counting(std::size_t size) {
  std::vector<float> floats(size);
  std::iota(floats.begin(), floats.end(), 0.5F);
  return floats;
}

}  // namespace

TEST_CASE("a state's digest is the SHA-256 of its chunks' digests") {
  const std::vector<float> state = counting(2 * wire::kStateChunkFloats + 17);
  REQUIRE(chunk_count(state.size()) == 3);
  CHECK(chunk_of(std::span(state), 2).size() == 17);
  CHECK(chunk_of(std::span(state), 1).data() == state.data() + wire::kStateChunkFloats);

  crypto::Sha256 outer;
  for (std::size_t chunk = 0; chunk < 3; ++chunk) {
    const auto floats = chunk_of(std::span(state), chunk);
    outer.update(crypto::sha256({reinterpret_cast<const std::uint8_t*>(floats.data()), floats.size_bytes()}).bytes);
  }
  const Digest digest = outer.finish();
  CHECK(state_digest(state) == digest);

  // PiecewiseSha256 gives an equal digest for bytes that come in pieces of any size.
  crypto::PiecewiseSha256 piecewise(wire::kStateChunkFloats * sizeof(float));
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(state.data()), state.size() * sizeof(float));
  for (std::size_t at = 0; at < bytes.size(); at += 100'003) {
    piecewise.update(bytes.subspan(at, std::min<std::size_t>(100'003, bytes.size() - at)));
  }
  CHECK(piecewise.finish() == digest);
}

TEST_CASE("one changed bit anywhere changes the digest") {
  std::vector<float> state = counting(wire::kStateChunkFloats + 5);
  const Digest before = state_digest(state);
  for (const std::size_t at : {std::size_t{0}, wire::kStateChunkFloats - 1, state.size() - 1}) {
    state[at] = -state[at];
    CHECK(state_digest(state) != before);
    state[at] = -state[at];
  }
  CHECK(state_digest(state) == before);
}

TEST_CASE("chunk counts at the edges") {
  CHECK(chunk_count(0) == 0);
  CHECK(chunk_count(1) == 1);
  CHECK(chunk_count(wire::kStateChunkFloats) == 1);
  CHECK(chunk_count(wire::kStateChunkFloats + 1) == 2);
}
