// The meetings of a swarm that is too large for one group: it averages in several rounds of small groups. Peers are
// numbers below the count that a formation was made for; their values stay with the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace starling::swarm {

using PeerIndex = std::uint32_t;

// The groups of one round, flat: a swarm of 100 000 is a handful of arrays. Nobody is in two groups.
class Groups {
 public:
  [[nodiscard]] std::size_t count() const { return begins_.size() - 1; }
  [[nodiscard]] std::span<const PeerIndex> group(std::size_t index) const {
    return std::span(members_).subspan(begins_[index], begins_[index + 1] - begins_[index]);
  }
  void add(PeerIndex member) { members_.push_back(member); }
  // Makes a group of the members added since the last call; none when there were none.
  void close_group() {
    if (begins_.back() != members_.size()) begins_.push_back(members_.size());
  }

 private:
  std::vector<PeerIndex> members_;
  std::vector<std::size_t> begins_{0};
};

// Peers i with present[i] != 0, in their order.
std::vector<PeerIndex> those_present(std::span<const std::uint8_t> present);

// A way of forming groups, as a value.
struct FormationSpec {
  enum class Kind : std::uint8_t {
    one_group,      // everybody in one
    random_groups,  // drawn again every round, with about sides[0] members each
    moshpit_keys,   // sides[0] to the power of sides.size() virtual cells; all sides are equal
    planned_grid,   // everybody's average after sides.size() rounds, whatever the number of peers
    ring_pairs,     // exchange_topologies.h, like the two below
    exponential_pairs,
    alternating_exponential_ring,  // for hosts with sides[0] devices
  };
  Kind kind = Kind::one_group;
  std::vector<std::uint32_t> sides;  // sides of the grid, at least 1 each; empty for one group and for pairs
};

// The name for people: "one group" or "planned grid 32x32".
std::string to_string(const FormationSpec& spec);

// Decides round after round. form() returns the groups and sets everybody's weight; the members of a group replace
// their value by the weighted mean of those that took part; settle() takes who did.
//
// Weight is conserved: the weight that a peer brings in (samples; 1 for everybody in the published experiments) is
// handed on, never made or lost, by those whose values came from it. So a peer that misses a round distorts nothing: it
// keeps its value and its weight until it meets somebody.
class GroupFormation {
 public:
  virtual ~GroupFormation() = default;

  // present[i] != 0: peer i can meet others now.
  virtual Groups form(std::span<const std::uint8_t> present) = 0;
  // took_part[i] != 0: peer i, if it is in a group, holds its group's mean now. Others in the group left it unchanged.
  // By default the weight of a group is shared evenly by those who took part.
  virtual void settle(const Groups& groups, std::span<const std::uint8_t> took_part);

  // Returns the weight of each peer's value in the groups formed last.
  [[nodiscard]] std::span<const double> weights() const { return weights_; }

 protected:
  explicit GroupFormation(std::vector<double> weights) : weights_(std::move(weights)) {}

  std::vector<double> weights_;
};

// `weights`: those of the values at the beginning, one per peer. Equal arguments form equal groups, on every machine.
std::unique_ptr<GroupFormation> make_formation(const FormationSpec& spec, std::vector<double> weights,
                                               std::uint64_t seed);

}  // namespace starling::swarm
