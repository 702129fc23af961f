#include "shared/swarm/measured_members.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "shared/protocol/audit.h"
#include "shared/swarm/random_stream.h"

namespace starling::swarm {

std::vector<std::size_t> measured_members(const Hash128& result_digest, std::size_t members) {
  std::vector<std::size_t> drawn(members);
  std::iota(drawn.begin(), drawn.end(), std::size_t{0});
  if (members <= wire::kMeasuredMax) return drawn;
  std::uint64_t number = 0;
  std::memcpy(&number, result_digest.bytes.data(), sizeof(number));
  RandomStream(number).shuffle(std::span(drawn));
  drawn.resize(wire::kMeasuredMax);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

std::vector<std::size_t> sketched_parts(const Hash128& seed, const wire::GroupInfo& plan) {
  std::vector<std::size_t> owners;
  for (std::size_t rank = 0; rank < plan.members.size(); ++rank) {
    if (plan.members[rank].part_floats > 0) owners.push_back(rank);
  }
  std::vector<std::size_t> drawn;
  for (const std::size_t place : measured_members(seed, owners.size())) drawn.push_back(owners[place]);
  return drawn;
}

}  // namespace starling::swarm
