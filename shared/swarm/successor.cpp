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
    text.push_back(static_cast<std::uint8_t>(member.role));
  }
  GroupId id;
  id.bytes = hash128(text).bytes;
  return id;
}

// Most of those who have a say may not be deferred.
void wait_for_most(wire::GroupInfo& group) {
  std::size_t voters = 0;
  std::size_t deferred = 0;
  for (const wire::GroupMember& member : group.members) {
    voters += member.role != wire::MemberRole::late ? 1 : 0;
    deferred += member.role == wire::MemberRole::deferred ? 1 : 0;
  }
  if (2 * deferred < voters) return;
  for (wire::GroupMember& member : group.members) {
    if (member.role == wire::MemberRole::deferred) member.role = wire::MemberRole::full;
  }
}

}  // namespace

wire::GroupInfo plan_successor(const wire::GroupInfo& last, std::span<const SampleCount> contributed,
                               const Digest& state_digest) {
  VERIFY(contributed.size() == last.members.size());
  VERIFY(std::any_of(contributed.begin(), contributed.end(), [](SampleCount samples) { return samples > 0; }));
  wire::GroupInfo next = last;
  std::vector<double> shares;
  for (std::size_t rank = 0; rank < contributed.size(); ++rank) {
    wire::GroupMember& member = next.members[rank];
    const bool came = contributed[rank] > 0;
    if (!came || member.role == wire::MemberRole::late) {
      member.role = came ? wire::MemberRole::full : wire::MemberRole::late;
    }
    shares.push_back(came ? static_cast<double>(member.part_floats) : 0);
  }
  wait_for_most(next);
  // When every owner is gone, those who came, and can be called, share evenly.
  double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (const bool callable : {true, false}) {
    for (std::size_t rank = 0; total <= 0 && rank < shares.size(); ++rank) {
      const bool could = !callable || wire::dialable(next.members[rank].endpoint);
      shares[rank] = contributed[rank] > 0 && could ? 1 : 0;
    }
    total = std::accumulate(shares.begin(), shares.end(), 0.0);
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
