#include "client/transport/state_snapshot.h"

#include <doctest/doctest.h>

#include "shared/state/state_digest.h"

using namespace starling;
using namespace starling::transport;

TEST_CASE("a snapshot is named by its chunks, and the largest one's digests fit into one frame") {
  const std::vector<float> floats(wire::kStateChunkFloats + 5, 0.5F);
  const StateSnapshot snapshot = snapshot_of(3, floats);
  CHECK(snapshot.round == 3);
  CHECK(snapshot.digest == state::state_digest(floats));
  REQUIRE(snapshot.chunk_digests.size() == 2);
  CHECK(snapshot.chunk_digests[1] == state::chunk_digest(std::span(floats).last(5)));
  CHECK(state::chunk_count(kStateFloatsMax) == kStateChunksMax);
}
