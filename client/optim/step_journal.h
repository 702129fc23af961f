// Makes an optimizer step survive the death of the process that takes it. The state, the gradient and this journal live
// in memory that outlives the process; its successor calls Optimizer::step again with the same round and the same
// gradient and finishes the identical step, to the bit.
//
// The step goes block by block: a block's new values are computed into a slot beside the state, the slot is marked
// full, and only then copied over the state. A death before the mark leaves the block unchanged; a death after it
// leaves a full slot, which can be copied again any number of times. Values that a step needs of whole tensors before
// it changes their first parameters are computed once, before the first block, and kept.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/base/ids.h"

namespace starling::optim {

// Parameters per block. Its slot (this many floats per vector) stays in a core's nearest caches.
constexpr std::size_t kStepBlock = 16 * 1024;
// Vectors that a step may change: parameters and at most three more.
constexpr std::size_t kStepVectorsMax = 4;
// Largest number of tensors of a model.
constexpr std::size_t kStepTensorsMax = 4096;

// A block's new values, vector by vector.
using StepSlot = std::array<float, kStepVectorsMax * kStepBlock>;

// Plain memory: may be placed in a shared mapping, where all zero bytes are a valid, empty journal.
struct StepJournal {
  // Empties the journal: no step is in progress or remembered. To be called after the state was written by other means
  // (initial state, checkpoint, donors) and before a step that is not a repetition.
  void clear();
  // Begins the step of `round`, unless it is in progress or finished already.
  void begin(RoundIndex round);
  void finish();

  [[nodiscard]] bool in_progress(RoundIndex round) const;
  [[nodiscard]] bool finished(RoundIndex round) const;

  // 0: nothing is done; 1: scales are there; 1 + 2 × (blocks done) + (1 if the next block's slot is full). A step may
  // go over the blocks more than once; they count each time.
  std::atomic<std::uint64_t> progress;
  // 0: nothing; 2 × (round + 1): in progress; 2 × (round + 1) + 1: finished.
  std::atomic<std::uint64_t> marker;
  alignas(64) std::array<float, kStepTensorsMax> scales;  // one per tensor of the model
  alignas(64) StepSlot slot;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace starling::optim
