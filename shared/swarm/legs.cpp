#include "shared/swarm/legs.h"

#include <vector>

#include "shared/base/hash.h"
#include "shared/swarm/shares.h"

namespace starling::swarm {

wire::GroupInfo plan_leg(const wire::GroupInfo& planned, int index, std::int64_t vector_floats) {
  wire::GroupInfo leg = planned;
  std::vector<double> shares;
  for (const wire::GroupMember& member : planned.members) shares.push_back(static_cast<double>(member.part_floats));
  const std::vector<std::int64_t> parts = split_vector(vector_floats, shares);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) leg.members[rank].part_floats = parts[rank];
  leg.vector_floats = vector_floats;
  leg.start_in_ms = 0;
  std::vector<std::uint8_t> bytes(planned.id.bytes.begin(), planned.id.bytes.end());
  bytes.push_back(static_cast<std::uint8_t>(index));
  leg.id.bytes = hash128(bytes).bytes;
  return leg;
}

}  // namespace starling::swarm
