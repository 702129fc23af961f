// A grid that is planned again for the peers present in each deal, and exact for every number of peers.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/swarm/group_formation.h"
#include "shared/swarm/random_stream.h"

namespace starling::swarm {

// Moshpit's grid averages exactly in d rounds only when all M^d cells are taken. This one needs no cells. With sides
// K_1 … K_d:
//   round 1: the peers are cut into K_2 · … · K_d columns of equal size, give or take one; each averages.
//   round t: K_t blocks of the round before make a block, and so up to the one that holds everybody. A block
//     has as many groups as its smallest old block has members. Its members are dealt to them, one old block after the
//     other, so every group has a member from each old block, and the mean of any group is the mean of the block: an
//     old block with k members in a group counts 1/k of its weight for each.
// After round d everybody holds the average, whatever the number of peers and their weights, if nobody fails. A peer
// that fails keeps its value and joins the next round as a block of its own, with the weight it has; so the values
// still go to the exact average. After round d the peers are dealt to new columns; with two sides, the last groups are
// them.
class PlannedGrid final : public GroupFormation {
 public:
  PlannedGrid(std::vector<std::uint32_t> sides, std::vector<double> weights, std::uint64_t seed);

  Groups form(std::span<const std::uint8_t> present) override;
  void settle(const Groups& groups, std::span<const std::uint8_t> took_part) override;

 private:
  // Peers of one source hold one average: that of a group, that of a whole block, or, for a loner, its own value.
  using Source = std::uint32_t;
  struct Placed {
    std::uint32_t old_block;
    Source source;
    PeerIndex peer;
  };
  // The facts known of a group when it forms.
  struct Formed {
    std::uint32_t block;  // its first group
    bool whole;           // every source of the block is in the group, so its mean is the block's
  };

  // There are never more groups than peers.
  [[nodiscard]] static Source of_group(std::uint32_t group) { return group; }
  [[nodiscard]] Source of_block(std::uint32_t block) const { return static_cast<Source>(source_.size()) + block; }
  [[nodiscard]] Source loner(PeerIndex peer) const { return static_cast<Source>(2 * source_.size()) + peer; }
  void hand_on_weights(std::span<const std::uint8_t> present);
  Groups deal_columns(std::span<const std::uint8_t> present);
  [[nodiscard]] std::vector<Placed> place(std::span<const std::uint8_t> present);
  [[nodiscard]] std::uint32_t groups_for(std::span<const Placed> block) const;
  void deal_block(std::span<const Placed> block, Groups& groups);
  bool goes_on(const Groups& groups);
  bool share_weights(std::span<const Placed> block, std::uint32_t groups);

  std::vector<std::uint32_t> sides_;
  std::uint32_t columns_ = 1;
  RandomStream random_;
  std::size_t round_ = 0;  // counted within this deal, below sides_.size()
  std::vector<std::uint32_t> column_;
  std::vector<Source> source_;
  std::vector<Formed> formed_;  // by group formed last
};

}  // namespace starling::swarm
