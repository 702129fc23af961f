#include "shared/swarm/witnesses.h"

#include <algorithm>
#include <cstdint>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"

namespace starling::swarm {

std::vector<std::size_t> told_about(const GroupId& group, std::size_t own, std::size_t members) {
  VERIFY(own < members);
  const std::size_t count = std::min(wire::kReceivedMax, members - 1);
  std::uint64_t seed = 0;
  for (const std::uint8_t byte : group.bytes) seed = mix64(seed ^ byte);
  // All that follow at one distance: so everybody is told about by as many.
  const std::size_t distance = 1 + static_cast<std::size_t>(seed % (members - count));
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back((own + distance + i) % members);
  return places;
}

}  // namespace starling::swarm
