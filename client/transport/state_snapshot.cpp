#include "client/transport/state_snapshot.h"

#include "shared/state/state_digest.h"

namespace starling::transport {

StateSnapshot snapshot_of(RoundIndex round, std::span<const float> floats, const wire::StateForm& form) {
  StateSnapshot snapshot{
      .round = round, .digest = {}, .floats = floats, .chunk_digests = state::chunk_digests(floats), .form = form};
  snapshot.digest = state::state_digest(snapshot.chunk_digests);
  return snapshot;
}

}  // namespace starling::transport
