#include "shared/swarm/gossip_groups.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "shared/base/hash.h"
#include "shared/base/verify.h"
#include "shared/swarm/shares.h"

namespace starling::swarm {
namespace {

using Kind = FormationSpec::Kind;

std::uint64_t seed_of(const Digest& state) {
  std::uint64_t seed = 0;
  std::memcpy(&seed, state.bytes.data(), sizeof seed);
  return seed;
}

// Returns an id from the round's plan, the state, the bucket's and the meeting's numbers, and its members.
GroupId gossip_id(const wire::GroupInfo& gossip, const GroupId& last, std::uint64_t bucket, std::uint64_t number) {
  std::vector<std::uint8_t> text(last.bytes.begin(), last.bytes.end());
  for (const std::uint64_t value : {number, bucket}) {
    for (int shift = 0; shift < 64; shift += 8) text.push_back(static_cast<std::uint8_t>(value >> shift));
  }
  text.insert(text.end(), gossip.state_digest.bytes.begin(), gossip.state_digest.bytes.end());
  for (const wire::GroupMember& member : gossip.members) {
    text.insert(text.end(), member.endpoint.peer.bytes.begin(), member.endpoint.peer.bytes.end());
  }
  GroupId id;
  id.bytes = hash128(text).bytes;
  return id;
}

}  // namespace

FormationSpec gossip_formation(wire::GossipPartners partners, std::size_t members) {
  switch (partners) {
    case wire::GossipPartners::complete:
      if (members <= wire::kGroupMembersMax) return {Kind::one_group, {}};
      break;
    case wire::GossipPartners::ring:
      return {Kind::ring_pairs, {}};
    case wire::GossipPartners::exponential:
      return {Kind::exponential_pairs, {}};
    case wire::GossipPartners::alternating_exponential_ring:
      return {Kind::alternating_exponential_ring, {1}};
    case wire::GossipPartners::random:
      return {Kind::random_groups, {2}};
    case wire::GossipPartners::grid:
      break;
  }
  const auto side = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(members))));
  return {Kind::planned_grid, {side, side}};
}

GossipGroups::GossipGroups(wire::GossipPartners partners, wire::GroupInfo last, std::span<const PeerId> members,
                           const AgreedBucket& agreed)
    : last_(std::move(last)), bucket_(agreed.bucket.number) {
  for (const wire::GroupMember& member : last_.members) {
    const PeerId& peer = member.endpoint.peer;
    if (std::find(members.begin(), members.end(), peer) == members.end()) continue;
    // The bytes that relays pass on are counted by rounds: gossip does without relays.
    const bool direct = wire::direct(member.endpoint);
    members_.push_back(direct ? member.endpoint : wire::Endpoint{peer, "", 0});
  }
  VERIFY(!members_.empty());
  // The order is rotated by round: where rounds leave time for one meeting or two, every round would begin with equal
  // pairs.
  const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(agreed.round) % members_.size());
  std::rotate(members_.begin(), members_.begin() + first, members_.end());
  last_.members.clear();
  last_.grid.reset();
  last_.reason.clear();
  last_.autonomous = true;
  last_.vector_floats = static_cast<std::int64_t>(agreed.bucket.count);
  last_.start_in_ms = 0;
  last_.round = agreed.round;
  last_.state_digest = agreed.state;
  formation_ = make_formation(gossip_formation(partners, members_.size()), std::vector<double>(members_.size(), 1.0),
                              seed_of(agreed.state));
}

std::optional<GossipGroup> GossipGroups::next(const PeerId& self) {
  const std::vector<std::uint8_t> all(members_.size(), 1);
  const Groups groups = formation_->form(all);
  formation_->settle(groups, all);
  const std::uint64_t number = number_++;
  for (std::size_t g = 0; g < groups.count(); ++g) {
    const std::span<const PeerIndex> group = groups.group(g);
    const auto is_self = [&](PeerIndex peer) { return members_[peer].peer == self; };
    const auto found = std::find_if(group.begin(), group.end(), is_self);
    if (found == group.end() || group.size() < 2) continue;
    GossipGroup gossip{plan(group), static_cast<std::size_t>(found - group.begin())};
    gossip.group.id = gossip_id(gossip.group, last_.id, bucket_, number);
    if (!wire::check_group(gossip.group).ok()) return std::nullopt;  // nobody there can be called
    return gossip;
  }
  return std::nullopt;
}

// Plans equal parts for those that can be called.
wire::GroupInfo GossipGroups::plan(std::span<const PeerIndex> group) const {
  wire::GroupInfo plan = last_;
  std::vector<double> shares;
  for (const PeerIndex peer : group) {
    const wire::Endpoint& endpoint = members_[peer];
    const bool owns = wire::dialable(endpoint);
    plan.members.push_back(
        {.endpoint = endpoint, .role = owns ? wire::MemberRole::full : wire::MemberRole::client_only});
    shares.push_back(owns ? 1 : 0);
  }
  const std::vector<std::int64_t> parts = split_vector(plan.vector_floats, shares);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) plan.members[rank].part_floats = parts[rank];
  return plan;
}

}  // namespace starling::swarm
