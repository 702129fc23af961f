// The algorithms that an operator selects by name. Each is a composition of parts that stand in the run manifest one by
// one, and nothing else: code that runs a manifest looks at its parts and knows no names. A name in manifest.toml sets
// the parts; the file's other settings override them. docs/algorithms.md lists them in a table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "shared/run/run_manifest.h"

namespace starling::manifest {

struct Algorithm {
  std::string_view name;
  std::string_view what;    // one line
  std::string_view source;  // publication
  void (*compose)(wire::RunManifest& manifest);
};

std::span<const Algorithm> algorithms();
// Null for an unknown name.
const Algorithm* find_algorithm(std::string_view name);
// "'dedloc', 'local-sgd', …"
std::string algorithm_names();

}  // namespace starling::manifest
