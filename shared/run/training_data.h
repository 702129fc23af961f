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

// Most tokens that an evaluation predicts: half a second's work for a small model on one core.
constexpr std::int64_t kEvaluatedTokensMax = 16 * 1024;

// The windows of a held-out text in which next tokens are predicted. They overlap by half, and only the second half is
// scored, so that every token is predicted from at least half a context.
struct HeldOutWindows {
  std::int64_t length = 0;  // tokens of a window
  std::int64_t scored = 0;  // the last ones of these
  std::int64_t places = 0;  // windows that there are
  std::int64_t taken = 0;   // windows that are evaluated, spread evenly among them
  [[nodiscard]] constexpr std::int64_t start(std::int64_t window) const { return window * places / taken * scored; }
};
// `tokens`: of the text, 2 at least.
constexpr HeldOutWindows held_out_windows(std::int64_t tokens, int context) {
  HeldOutWindows windows;
  const std::int64_t last = tokens - 1;  // tokens that have a next one
  windows.length = context < last ? context : last;
  windows.scored = (windows.length + 1) / 2;
  windows.places = (last - windows.length) / windows.scored + 1;
  const std::int64_t most = kEvaluatedTokensMax > windows.scored ? kEvaluatedTokensMax / windows.scored : 1;
  windows.taken = windows.places < most ? windows.places : most;
  return windows;
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
