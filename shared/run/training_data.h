// The assignment of training samples: samples are dealt, never chosen, and anyone can name those that a peer must have
// used.
//
// In epochs (epochs.h) the coordinator leases every member stretches of a seeded order of all samples (SampleLease in
// messages.h). Without epochs, every member of a run holds a lane (a small number unique among the members, given by
// the coordinator) and walks its own positions of a seeded shuffle of all samples, so two peers never train on one
// sample in a round, and nobody has to talk about it.
#pragma once

#include <cstdint>

#include "shared/base/ids.h"
#include "shared/base/permutation.h"

namespace starling::wire {

constexpr std::int64_t kNoEpoch = -1;

// `count` samples for one round: either a lane's, from the lane's sample number `first` on; or, with an epoch, leased
// ones, from this place of the epoch's order on.
struct SampleRange {
  RoundIndex round = 0;
  int lane = 0;
  SampleCount first = 0;
  SampleCount count = 0;
  std::int64_t epoch = kNoEpoch;
};

// Number of different windows of `context` tokens and a target in a text; 0 when the text is too short.
constexpr std::int64_t window_space(std::int64_t tokens, int context) {
  return tokens > context ? tokens - context : 0;
}

// The shuffle of one round: a new order of all samples each round, equal on every machine.
inline SeededPermutation round_permutation(std::uint64_t seed, RoundIndex round, std::int64_t space) {
  return SeededPermutation(mix64(seed ^ mix64(static_cast<std::uint64_t>(round))), static_cast<std::uint64_t>(space));
}

// Position in the round's shuffle of a lane's k-th sample. Lanes interleave with stride peers_max, so
// positions of different lanes never meet while k < space / peers_max (enforced when a run is created).
constexpr std::uint64_t sample_position(int lane, SampleCount k, int peers_max, std::int64_t space) {
  return (static_cast<std::uint64_t>(k) * static_cast<std::uint64_t>(peers_max) + static_cast<std::uint64_t>(lane)) %
         static_cast<std::uint64_t>(space);
}

}  // namespace starling::wire
