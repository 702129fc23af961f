// A round whose members gossip afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/protocol/group_info.h"
#include "shared/run/buckets.h"

namespace starling::swarm::testing {

inline PeerId gossip_peer(std::size_t k) {
  PeerId id;
  id.bytes[0] = static_cast<std::uint8_t>(k + 1);
  return id;
}

inline wire::GroupInfo gossip_round(std::size_t members) {
  wire::GroupInfo group;
  group.id.bytes[0] = 7;
  group.run_id = "mixing";
  group.vector_floats = 1001;
  for (std::size_t k = 0; k < members; ++k) {
    group.members.push_back({.endpoint = {gossip_peer(k), "127.0.0.1", 4000}});
  }
  group.members[0].part_floats = group.vector_floats;
  return group;
}

// A bucket that is the whole vector.
inline wire::Bucket gossip_bucket(const wire::GroupInfo& group) {
  return {0, 0, static_cast<std::size_t>(group.vector_floats)};
}

inline std::vector<PeerId> peers_of(const wire::GroupInfo& group) {
  std::vector<PeerId> peers;
  for (const wire::GroupMember& member : group.members) peers.push_back(member.endpoint.peer);
  return peers;
}

}  // namespace starling::swarm::testing
