#include "shared/swarm/group_formation.h"

#include <algorithm>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"
#include "shared/swarm/exchange_topologies.h"
#include "shared/swarm/planned_grid.h"
#include "shared/swarm/random_stream.h"

namespace starling::swarm {
namespace {

constexpr std::uint64_t kCellsMax = std::uint64_t{1} << 40;

class OneGroup final : public GroupFormation {
 public:
  explicit OneGroup(std::vector<double> weights) : GroupFormation(std::move(weights)) {}

  Groups form(std::span<const std::uint8_t> present) override {
    Groups groups;
    for (const PeerIndex peer : those_present(present)) groups.add(peer);
    groups.close_group();
    return groups;
  }
};

// Moshpit SGD (arXiv 2103.03239), theorem 3.2: with r groups a round leaves (r - 1) / N + r / N^2 of the variance.
class RandomGroups final : public GroupFormation {
 public:
  RandomGroups(std::uint32_t size, std::vector<double> weights, std::uint64_t seed)
      : GroupFormation(std::move(weights)), size_(size), random_(seed) {}

  Groups form(std::span<const std::uint8_t> present) override {
    std::vector<PeerIndex> peers = those_present(present);
    random_.shuffle(std::span(peers));
    const std::size_t count = std::max<std::size_t>(1, (peers.size() + size_ / 2) / size_);
    Groups groups;
    for (std::size_t g = 0, next = 0; g < count; ++g) {
      for (const std::size_t end = (g + 1) * peers.size() / count; next < end; ++next) groups.add(peers[next]);
      groups.close_group();
    }
    return groups;
  }

 private:
  std::uint32_t size_;
  RandomStream random_;
};

// Moshpit all-reduce (arXiv 2103.03239, section 3.2). A peer's key is the last d - 1 chunks that it reduced; peers of
// one key meet. Chunks within a group differ, so nobody meets the same peer twice in d rounds.
class MoshpitKeys final : public GroupFormation {
 public:
  MoshpitKeys(std::uint32_t side, std::size_t dims, std::vector<double> weights, std::uint64_t seed)
      : GroupFormation(std::move(weights)), side_(side), random_(seed) {
    for (std::size_t d = 1; d < dims; ++d) {
      keys_count_ *= side;
      VERIFY(keys_count_ * side <= kCellsMax);
    }
    // Everybody begins in a cell of its own, if there are enough.
    const std::uint64_t cells = keys_count_ * side;
    const SeededPermutation order(random_.next(), cells);
    for (std::size_t i = 0; i < weights_.size(); ++i) keys_.push_back(order.at(i % cells) / side);
  }

  Groups form(std::span<const std::uint8_t> present) override {
    std::vector<std::pair<std::uint64_t, PeerIndex>> order;
    for (const PeerIndex peer : those_present(present)) order.emplace_back(keys_[peer], peer);
    std::sort(order.begin(), order.end());
    Groups groups;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && order[i].first != order[i - 1].first) groups.close_group();
      groups.add(order[i].second);
    }
    groups.close_group();
    return groups;
  }

  // A peer that fails in a round was still dealt a chunk.
  void settle(const Groups& groups, std::span<const std::uint8_t> took_part) override {
    GroupFormation::settle(groups, took_part);
    std::vector<std::uint32_t> chunks(side_);
    for (std::uint32_t c = 0; c < side_; ++c) chunks[c] = c;
    for (std::size_t g = 0; g < groups.count(); ++g) {
      random_.shuffle(std::span(chunks));
      std::size_t rank = 0;
      for (const PeerIndex peer : groups.group(g)) {
        keys_[peer] = (keys_[peer] * side_ + chunks[rank++ % side_]) % keys_count_;
      }
    }
  }

 private:
  std::uint32_t side_;
  std::uint64_t keys_count_ = 1;
  RandomStream random_;
  std::vector<std::uint64_t> keys_;
};

bool has_sides(FormationSpec::Kind kind) {
  return kind != FormationSpec::Kind::one_group && kind != FormationSpec::Kind::ring_pairs &&
         kind != FormationSpec::Kind::exponential_pairs;
}

}  // namespace

std::vector<PeerIndex> those_present(std::span<const std::uint8_t> present) {
  std::vector<PeerIndex> peers;
  peers.reserve(present.size());
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (present[i] != 0) peers.push_back(static_cast<PeerIndex>(i));
  }
  return peers;
}

std::string to_string(const FormationSpec& spec) {
  std::string sides;
  for (const std::uint32_t side : spec.sides) sides += (sides.empty() ? "" : "x") + std::to_string(side);
  switch (spec.kind) {
    case FormationSpec::Kind::one_group:
      return "one group";
    case FormationSpec::Kind::random_groups:
      return "random groups of " + sides;
    case FormationSpec::Kind::moshpit_keys:
      return "Moshpit grid " + sides;
    case FormationSpec::Kind::planned_grid:
      return "planned grid " + sides;
    case FormationSpec::Kind::ring_pairs:
      return "ring";
    case FormationSpec::Kind::exponential_pairs:
      return "one-peer exponential";
    case FormationSpec::Kind::alternating_exponential_ring:
      return "alternating exponential ring of " + sides;
  }
  return {};
}

void GroupFormation::settle(const Groups& groups, std::span<const std::uint8_t> took_part) {
  for (std::size_t g = 0; g < groups.count(); ++g) {
    double weight = 0;
    std::size_t members = 0;
    for (const PeerIndex peer : groups.group(g)) {
      if (took_part[peer] == 0) continue;
      weight += weights_[peer];
      ++members;
    }
    for (const PeerIndex peer : groups.group(g)) {
      if (took_part[peer] != 0) weights_[peer] = weight / static_cast<double>(members);
    }
  }
}

std::unique_ptr<GroupFormation> make_formation(const FormationSpec& spec, std::vector<double> weights,
                                               std::uint64_t seed) {
  VERIFY(!has_sides(spec.kind) || !spec.sides.empty());
  for (const std::uint32_t side : spec.sides) VERIFY(side >= 1);
  switch (spec.kind) {
    case FormationSpec::Kind::one_group:
      return std::make_unique<OneGroup>(std::move(weights));
    case FormationSpec::Kind::random_groups:
      return std::make_unique<RandomGroups>(spec.sides.front(), std::move(weights), seed);
    case FormationSpec::Kind::moshpit_keys:
      return std::make_unique<MoshpitKeys>(spec.sides.front(), spec.sides.size(), std::move(weights), seed);
    case FormationSpec::Kind::planned_grid:
      return std::make_unique<PlannedGrid>(spec.sides, std::move(weights), seed);
    case FormationSpec::Kind::ring_pairs:
      return std::make_unique<RingPairs>(std::move(weights));
    case FormationSpec::Kind::exponential_pairs:
      return std::make_unique<ExponentialPairs>(std::move(weights));
    case FormationSpec::Kind::alternating_exponential_ring:
      return std::make_unique<AlternatingExponentialRing>(spec.sides.front(), std::move(weights));
  }
  return nullptr;
}

}  // namespace starling::swarm
