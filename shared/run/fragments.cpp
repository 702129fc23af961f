#include "shared/run/fragments.h"

#include <algorithm>

#include "shared/run/model_layout.h"

namespace starling::wire {

int fragments(const RunManifest& manifest) { return manifest.local ? manifest.local->fragments : 1; }

std::size_t fragment_floats(const RunManifest& manifest) {
  const auto count = static_cast<std::size_t>(fragments(manifest));
  return (parameter_count(manifest.model) + count - 1) / count;
}

Fragment fragment_of(const RunManifest& manifest, RoundIndex round) {
  const std::size_t floats = fragment_floats(manifest);
  Fragment fragment;
  fragment.number = static_cast<int>(round % fragments(manifest));
  fragment.begin = static_cast<std::size_t>(fragment.number) * floats;
  fragment.count = std::min(floats, parameter_count(manifest.model) - fragment.begin);
  return fragment;
}

}  // namespace starling::wire
