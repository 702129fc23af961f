// How a replica's state is named: chunks of wire::kStateChunkFloats floats (the last one may be shorter),
// the SHA-256 of each chunk's little-endian floats, and the SHA-256 of those digests in order: the state digest.
// So every chunk can be checked alone, whoever sent it, in whichever form.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "shared/base/ids.h"
#include "shared/wire/frames.h"
#include "shared/wire/moments.h"

namespace starling::transport {

// 2^31 floats: their chunk digests just fit into one state_info frame.
constexpr std::size_t kStateChunksMax = wire::kStateInfoPayloadMax / Digest::kSize;
constexpr std::size_t kStateFloatsMax = kStateChunksMax * wire::kStateChunkFloats;

// A state that can be given to others. Whoever makes one keeps `floats` alive and unchanged until the last
// shared_ptr to the snapshot is gone (give the pointer a deleter, or own the floats in a derived object).
struct StateSnapshot {
  RoundIndex round = 0;  // the replica has taken this many steps
  Digest digest;
  std::span<const float> floats;
  std::vector<Digest> chunk_digests;
  wire::StateForm form;  // how it travels
};

std::size_t chunk_count(std::size_t state_floats);
// The floats of one chunk; chunk < chunk_count(state.size()).
std::span<const float> chunk_of(std::span<const float> state, std::size_t chunk);
std::span<float> chunk_of(std::span<float> state, std::size_t chunk);

Digest chunk_digest(std::span<const float> chunk);
std::vector<Digest> chunk_digests(std::span<const float> state);
// The digest that heartbeats carry: of the concatenated chunk digests.
Digest state_digest(std::span<const Digest> chunk_digests);
Digest state_digest(std::span<const float> state);

// A snapshot of `floats`, digests computed here (about a second per GB). `floats` stays the caller's.
StateSnapshot snapshot_of(RoundIndex round, std::span<const float> floats, const wire::StateForm& form = {});

}  // namespace starling::transport
