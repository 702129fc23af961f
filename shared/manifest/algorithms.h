// The algorithms that an operator names by a word. Each is a composition of parts that stand in the run manifest one by
// one, and nothing else: whatever runs a manifest looks at its parts and knows no names. A word in manifest.toml sets
// the parts; what else the file says overrides them. docs/algorithms.md has them as a table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "shared/wire/run_manifest.h"

namespace starling::manifest {

struct Algorithm {
  std::string_view name;
  std::string_view what;    // one line
  std::string_view source;  // where it was published
  void (*compose)(wire::RunManifest& manifest);
};

std::span<const Algorithm> algorithms();
// Null for a word that is none.
const Algorithm* find_algorithm(std::string_view name);
// "'dedloc', 'local-sgd', …"
std::string algorithm_names();

}  // namespace starling::manifest
