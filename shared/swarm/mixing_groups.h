// Who mixes parameters with whom between two rounds of local steps (wire::LocalOptions::partners). Pure: members that
// have agreed on a round's result form the same groups without a word.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "shared/swarm/group_formation.h"
#include "shared/wire/buckets.h"
#include "shared/wire/group_info.h"

namespace starling::swarm {

// The formation that a manifest's word stands for, of so many members:
//   complete           everybody with everybody (the grid's, of more than a group can have)
//   ring, exponential  exchange_topologies.h; who has no partner in a mixing sits it out
//   alternating-exponential-ring
//                      the exponential graph's pairs, every other one in a mixing and the others in the next: a host's
//                      devices are one volunteer, so those whose turn it is not sit it out
//   random             pairs drawn anew for every mixing; one of three where their number is odd
//   grid               a planned grid as near to a square as can be: groups of its rows, then of its columns
std::span<const std::string_view> mixing_partners();  // those words
FormationSpec mixing_formation(std::string_view partners, std::size_t members);

// A mixing as one member sees it. Everybody in it counts the same.
struct MixingGroup {
  wire::GroupInfo group;
  std::size_t self = 0;  // rank
};

// What members have agreed on before they mix it.
struct AgreedBucket {
  wire::Bucket bucket;
  RoundIndex round = 0;  // that comes next
  Digest state;
};

// Mixings of one bucket between two rounds, one after the other, numbered from 0. Every round's begin with another
// member, so that all have their turn even where there is but one mixing a round. Nobody leaves the order when a member
// is gone: who was to meet it has nobody to meet, so all others still agree on theirs. With equal weights, every mixing
// is symmetric and doubly stochastic, whoever is missing: the members' mean stays.
class MixingGroups {
 public:
  // last: the plan of the round that these members (of it) have finished together.
  MixingGroups(std::string_view partners, wire::GroupInfo last, std::span<const PeerId> members,
               const AgreedBucket& agreed);

  // Whom `self` meets in the next mixing; none if nobody, or if nobody there can be called without a relay.
  std::optional<MixingGroup> next(const PeerId& self);

 private:
  [[nodiscard]] wire::GroupInfo plan(std::span<const PeerIndex> group) const;

  wire::GroupInfo last_;  // but for its members, as the bucket's mixings have it
  std::size_t bucket_;    // its number
  std::vector<wire::Endpoint> members_;
  std::unique_ptr<GroupFormation> formation_;
  std::uint64_t number_ = 0;  // of the next one
};

}  // namespace starling::swarm
