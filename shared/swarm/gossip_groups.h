// The gossip groups between two rounds of local steps (wire::LocalOptions::partners). Pure: members that have agreed on
// a round's result form equal groups without a word.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shared/protocol/group_info.h"
#include "shared/run/buckets.h"
#include "shared/run/round_options.h"
#include "shared/swarm/group_formation.h"

namespace starling::swarm {

// The formation that the choice of partners stands for, with this number of members:
//   complete           everybody with everybody (in the formation of a grid, if a group cannot have them all)
//   ring, exponential  exchange_topologies.h; a member without a partner sits the meeting out
//   alternating-exponential-ring
//                      the exponential graph's pairs, every other one in a meeting and the others in the next: a host's
//                      devices are one volunteer, so those whose turn it is not sit it out
//   random             pairs drawn again for every meeting; one group of three where their number is odd
//   grid               a planned grid as near to a square as can be: groups of its rows, then of its columns
FormationSpec gossip_formation(wire::GossipPartners partners, std::size_t members);

// A meeting from one member's view. All of its members have equal weight.
struct GossipGroup {
  wire::GroupInfo group;
  std::size_t self = 0;  // rank
};

// The facts that members have agreed on before they gossip.
struct AgreedBucket {
  wire::Bucket bucket;
  RoundIndex round = 0;  // the round that comes next
  Digest state;
};

// The gossip meetings of one bucket between two rounds, one after the other, numbered from 0. Every round's begin with
// another member, so that all have their turn even where there is but one meeting a round. Nobody leaves the order when
// a member is gone: its partner has nobody to meet, so all others still agree on theirs. With equal weights, every
// meeting is symmetric and doubly stochastic, whoever is missing: the members' mean stays.
class GossipGroups {
 public:
  // `last`: the plan of the round that `members`, members of it, have finished together.
  GossipGroups(wire::GossipPartners partners, wire::GroupInfo last, std::span<const PeerId> members,
               const AgreedBucket& agreed);

  // Returns the group of `self` in the next meeting; none if it is alone, or if nobody there can be called without a
  // relay.
  std::optional<GossipGroup> next(const PeerId& self);

 private:
  [[nodiscard]] wire::GroupInfo plan(std::span<const PeerIndex> group) const;

  wire::GroupInfo last_;  // the group of the bucket's meetings, without members
  std::size_t bucket_;    // its number
  std::vector<wire::Endpoint> members_;
  std::unique_ptr<GroupFormation> formation_;
  std::uint64_t number_ = 0;  // the next meeting's
};

}  // namespace starling::swarm
