// Where each round averages a fragment of the vector alone, in turn (Streaming DiLoCo, arXiv 2501.18512, its sequential
// pattern): round r fragment r mod P. Fragments are consecutive and equally long, wherever tensors begin, so that every
// round moves as many bytes; what the last one lacks is zeros.
#pragma once

#include <cstddef>

#include "shared/base/ids.h"
#include "shared/wire/run_manifest.h"

namespace starling::wire {

constexpr int kFragmentsMax = 64;

// Of the parameters that a round averages.
struct Fragment {
  int number = 0;
  std::size_t begin = 0;
  std::size_t count = 0;
};

// 1: all of them in every round.
int fragments(const RunManifest& manifest);
// Floats of a fragment in a round: at least its count.
std::size_t fragment_floats(const RunManifest& manifest);
Fragment fragment_of(const RunManifest& manifest, RoundIndex round);

}  // namespace starling::wire
