#include "shared/swarm/successor.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/verify.h"
#include "shared/swarm/plan.h"

namespace starling::swarm {
namespace {

constexpr std::int64_t kBeginWithinMsMax = 60000;

// Of the group before, the round, the state and the members: survivors that disagree about any must never meet.
GroupId successor_id(const wire::GroupInfo& last, const wire::GroupInfo& next) {
  std::vector<std::uint8_t> text(last.id.bytes.begin(), last.id.bytes.end());
  for (int shift = 0; shift < 64; shift += 8) text.push_back(static_cast<std::uint8_t>(next.round >> shift));
  text.insert(text.end(), next.state_digest.bytes.begin(), next.state_digest.bytes.end());
  for (const wire::GroupMember& member : next.members) {
    text.insert(text.end(), member.endpoint.peer.bytes.begin(), member.endpoint.peer.bytes.end());
  }
  GroupId id;
  id.bytes = hash128(text).bytes;
  return id;
}

}  // namespace

wire::GroupInfo plan_successor(const wire::GroupInfo& last, std::span<const SampleCount> contributed,
                               const Digest& state_digest) {
  VERIFY(contributed.size() == last.members.size());
  wire::GroupInfo next = last;
  next.members.clear();
  std::vector<double> shares;
  for (std::size_t rank = 0; rank < contributed.size(); ++rank) {
    if (contributed[rank] <= 0) continue;
    next.members.push_back(last.members[rank]);
    shares.push_back(static_cast<double>(last.members[rank].part_floats));
  }
  // When every owner is gone, whoever is left shares evenly.
  double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (total <= 0) {
    std::fill(shares.begin(), shares.end(), 1.0);
    total = static_cast<double>(shares.size());
  }
  for (double& share : shares) share /= total;
  const std::vector<std::int64_t> parts = split_vector(last.vector_floats, shares);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) next.members[rank].part_floats = parts[rank];
  next.round = last.round + 1;
  next.state_digest = state_digest;
  next.autonomous = true;
  next.id = successor_id(last, next);
  next.start_in_ms = 0;
  if (!last.autonomous) next.begin_within_ms = std::min(2 * last.begin_within_ms, kBeginWithinMsMax);
  return next;
}

}  // namespace starling::swarm
