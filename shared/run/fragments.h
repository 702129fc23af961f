// Rounds that average only a fragment of the vector each, in turn (Streaming DiLoCo, arXiv 2501.18512, its sequential
// pattern): round r averages fragment r mod P. Fragments are consecutive and equally long, wherever tensors begin, so
// that every round moves equally many bytes; the last one is padded with zeros.
#pragma once

#include <cstddef>

#include "shared/base/ids.h"
#include "shared/run/run_manifest.h"

namespace starling::wire {

constexpr int kFragmentsMax = 64;

// A fragment: the parameters that a round averages.
struct Fragment {
  int number = 0;
  std::size_t begin = 0;
  std::size_t count = 0;
};

// The number of fragments; 1: all parameters in every round.
int fragments(const RunManifest& manifest);
// Floats of a fragment in a round: at least its count.
std::size_t fragment_floats(const RunManifest& manifest);
Fragment fragment_of(const RunManifest& manifest, RoundIndex round);

}  // namespace starling::wire
