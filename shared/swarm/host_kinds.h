// A swarm's computers in few lines: those of about one speed together, none of them by itself. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shared/swarm/runtime_model.h"

namespace starling::swarm {

struct HostKind {
  std::size_t count = 0;
  Host host;  // speeds are means: their sum over the swarm is unchanged
};

// Returns at most kHostKindsMax kinds, from the fastest to the slowest; as alike as that number allows, speeds within
// one kind differing by a factor of 1.4 at best. Every speed is above 0.
constexpr std::size_t kHostKindsMax = 64;
std::vector<HostKind> host_kinds(std::span<const Host> hosts);

}  // namespace starling::swarm
