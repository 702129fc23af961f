// A replica's state in the form in which it is given to others.
#pragma once

#include <span>
#include <vector>

#include "shared/base/ids.h"
#include "shared/run/moments.h"
#include "shared/wire/frames.h"

namespace starling::transport {

// 2^31 floats: their chunk digests just fit into one state_info frame.
constexpr std::size_t kStateChunksMax = wire::kStateInfoPayloadMax / Digest::kSize;
constexpr std::size_t kStateFloatsMax = kStateChunksMax * wire::kStateChunkFloats;

// A state that can be given to others. The maker keeps `floats` alive and unchanged until the last shared_ptr to the
// snapshot is gone (give the pointer a deleter, or own the floats in a derived object).
struct StateSnapshot {
  RoundIndex round = 0;  // the replica has taken this many steps
  Digest digest;
  std::span<const float> floats;
  std::vector<Digest> chunk_digests;
  wire::StateForm form;  // form in which it travels
};

// A snapshot of `floats`, digests computed here (about a second per GB). `floats` stays the caller's.
StateSnapshot snapshot_of(RoundIndex round, std::span<const float> floats, const wire::StateForm& form = {});

}  // namespace starling::transport
