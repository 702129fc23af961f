// The samples that one member alone may train on for a while.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/ids.h"

namespace starling::wire {

// Samples that only this member may train on, until the round `last_round` is over: `count` consecutive places of an
// epoch's order (epochs.h), from `first` on. A member's draws are numbered through all of its leases: this one's have
// the numbers from `number` (at least 1) on. It draws in their order, and no number twice. The member's group says
// which of them count: a gradient of `samples` that was averaged in and has the first draw d stands for the draws from
// d to d + samples - 1. Draws that did not count return to the pool once last_round is over.
struct SampleLease {
  SampleCount number = 0;
  std::int64_t epoch = 0;
  std::int64_t first = 0;
  SampleCount count = 0;
  RoundIndex last_round = 0;
  friend bool operator==(const SampleLease&, const SampleLease&) = default;
};
constexpr std::size_t kLeasesMax = 64;  // limit for one member at a time

}  // namespace starling::wire
