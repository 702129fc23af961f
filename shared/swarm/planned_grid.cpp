#include "shared/swarm/planned_grid.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"

namespace starling::swarm {
namespace {

constexpr std::uint32_t kNoColumn = std::numeric_limits<std::uint32_t>::max();
// When most of an old block has left, groups in the number of its members would be huge: they grow to at most this
// multiple of their usual size, and some have nobody from it.
constexpr std::uint32_t kGroupGrowthMax = 2;
// A square goes on from its last groups while their number is the planned one, give or take a quarter.
constexpr std::uint32_t kDriftPart = 4;

}  // namespace

PlannedGrid::PlannedGrid(std::vector<std::uint32_t> sides, std::vector<double> weights, std::uint64_t seed)
    : GroupFormation(std::move(weights)),
      sides_(std::move(sides)),
      random_(seed),
      column_(weights_.size(), kNoColumn),
      source_(weights_.size()) {
  VERIFY(!sides_.empty());
  for (PeerIndex peer = 0; peer < source_.size(); ++peer) source_[peer] = loner(peer);
}

Groups PlannedGrid::form(std::span<const std::uint8_t> present) {
  VERIFY(present.size() == source_.size());
  formed_.clear();
  hand_on_weights(present);
  if (round_ == 0) return deal_columns(present);
  const std::vector<Placed> placed = place(present);
  Groups groups;
  const bool last = round_ + 1 == sides_.size();
  const auto block = [&](const Placed& who) { return last ? 0 : who.old_block / sides_[round_]; };
  for (std::size_t begin = 0; begin < placed.size();) {
    std::size_t end = begin;
    while (end < placed.size() && block(placed[end]) == block(placed[begin])) ++end;
    deal_block(std::span(placed).subspan(begin, end - begin), groups);
    begin = end;
  }
  return groups;
}

// A peer that is away holds nothing that the others of its source do not hold: they take over its weight, and when it
// is back it comes with none and leaves with the result.
void PlannedGrid::hand_on_weights(std::span<const std::uint8_t> present) {
  struct Total {
    double weight = 0;
    std::uint32_t present = 0;
  };
  std::vector<Total> totals(3 * source_.size());
  for (std::size_t i = 0; i < source_.size(); ++i) {
    totals[source_[i]].weight += weights_[i];
    if (present[i] != 0) ++totals[source_[i]].present;
  }
  for (std::size_t i = 0; i < source_.size(); ++i) {
    const Total& total = totals[source_[i]];
    if (total.present > 0) weights_[i] = present[i] != 0 ? total.weight / total.present : 0;
  }
}

// Deals peers of one source to different columns, and sources of one group to different blocks, as far as there are
// any: differences that failures have left between the groups of the round before are averaged out like the differences
// between peers.
Groups PlannedGrid::deal_columns(std::span<const std::uint8_t> present) {
  std::vector<PeerIndex> peers = those_present(present);
  random_.shuffle(std::span(peers));
  const std::uint64_t salt = random_.next();
  std::vector<std::pair<std::uint64_t, PeerIndex>> order;
  order.reserve(peers.size());
  for (const PeerIndex peer : peers) order.emplace_back(mix64(salt ^ source_[peer]), peer);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  columns_ = std::accumulate(sides_.begin() + 1, sides_.end(), std::uint32_t{1}, std::multiplies<>());
  const std::uint32_t last_blocks = sides_.size() > 1 ? sides_.back() : 1;
  std::fill(column_.begin(), column_.end(), kNoColumn);
  std::vector<std::vector<PeerIndex>> columns(columns_);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto turn = static_cast<std::uint32_t>(k % columns_);
    const std::uint32_t column = turn % last_blocks * (columns_ / last_blocks) + turn / last_blocks;
    columns[column].push_back(order[k].second);
    column_[order[k].second] = column;
  }
  Groups groups;
  for (const std::vector<PeerIndex>& column : columns) {
    if (column.empty()) continue;
    for (const PeerIndex peer : column) groups.add(peer);
    groups.close_group();
    formed_.push_back({static_cast<std::uint32_t>(formed_.size()), true});
  }
  return groups;
}

// Returns peers in the order of a deal: block by block, there old block by old block, there source by source with the
// loners last.
std::vector<PlannedGrid::Placed> PlannedGrid::place(std::span<const std::uint8_t> present) {
  std::uint32_t old_block_columns = 1;
  for (std::size_t t = 1; t < round_; ++t) old_block_columns *= sides_[t];
  std::vector<Placed> placed;
  placed.reserve(present.size());
  for (const PeerIndex peer : those_present(present)) {
    if (column_[peer] == kNoColumn) column_[peer] = random_.below(columns_);  // came after the deal
    placed.push_back({column_[peer] / old_block_columns, source_[peer], peer});
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    if (a.old_block != b.old_block) return a.old_block < b.old_block;
    return a.source != b.source ? a.source < b.source : a.peer < b.peer;
  });
  return placed;
}

// Returns the number of members of the smallest old block that hold its average.
std::uint32_t PlannedGrid::groups_for(std::span<const Placed> block) const {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t smallest = kNone;
  std::uint32_t old_blocks = 0;
  for (std::size_t begin = 0; begin < block.size(); ++old_blocks) {
    std::size_t end = begin;
    std::uint32_t holders = 0;
    for (; end < block.size() && block[end].old_block == block[begin].old_block; ++end) {
      if (block[end].source < loner(0)) ++holders;
    }
    if (holders > 0) smallest = std::min(smallest, holders);
    begin = end;
  }
  const auto usual = static_cast<std::uint32_t>(block.size() / old_blocks);
  if (smallest == kNone) smallest = usual;
  const std::uint32_t at_least = usual / kGroupGrowthMax;
  return std::clamp(smallest, std::max<std::uint32_t>(1, at_least), static_cast<std::uint32_t>(block.size()));
}

void PlannedGrid::deal_block(std::span<const Placed> block, Groups& groups) {
  const std::uint32_t count = groups_for(block);
  const bool whole = share_weights(block, count);
  const auto first = static_cast<std::uint32_t>(formed_.size());
  for (std::uint32_t group = 0; group < count; ++group) {
    for (std::size_t at = group; at < block.size(); at += count) groups.add(block[at].peer);
    groups.close_group();
    formed_.push_back({first, whole});
  }
}

// Divides a source's weight evenly among its groups, and in each among the members that bring it. Returns true when
// every source is in every group.
bool PlannedGrid::share_weights(std::span<const Placed> block, std::uint32_t groups) {
  bool everywhere = true;
  for (std::size_t begin = 0; begin < block.size();) {
    std::size_t end = begin;
    double weight = 0;
    for (; end < block.size() && block[end].source == block[begin].source; ++end) weight += weights_[block[end].peer];
    const std::size_t holders = end - begin;
    everywhere = everywhere && holders >= groups;
    const double in_each = weight / static_cast<double>(std::min<std::size_t>(holders, groups));
    for (std::size_t at = begin; at < end; ++at) {
      // Every groups-th of this source's holders is in the group of this one.
      const std::size_t before = (at - begin) / groups;
      const std::size_t after = (end - 1 - at) / groups;
      weights_[block[at].peer] = in_each / static_cast<double>(before + 1 + after);
    }
    begin = end;
  }
  return everywhere;
}

void PlannedGrid::settle(const Groups& groups, std::span<const std::uint8_t> took_part) {
  VERIFY(groups.count() == formed_.size());
  GroupFormation::settle(groups, took_part);
  for (PeerIndex peer = 0; peer < source_.size(); ++peer) source_[peer] = loner(peer);
  for (std::uint32_t g = 0; g < groups.count(); ++g) {
    const std::span<const PeerIndex> group = groups.group(g);
    const bool all = std::all_of(group.begin(), group.end(), [&](PeerIndex peer) { return took_part[peer] != 0; });
    // A group that lost a member holds another mean than its block.
    const Source source = all && formed_[g].whole ? of_block(formed_[g].block) : of_group(g);
    for (const PeerIndex peer : group) {
      if (took_part[peer] != 0) source_[peer] = source;
    }
  }
  if (round_ == 1 && sides_.size() == 2 && goes_on(groups)) return;
  round_ = (round_ + 1) % sides_.size();
}

// The groups of a square's last round are columns just as good: whatever two rounds follow one another, the values are
// exact if nobody fails in them.
bool PlannedGrid::goes_on(const Groups& groups) {
  const auto count = static_cast<std::uint32_t>(groups.count());
  const std::uint32_t drift = count > sides_[1] ? count - sides_[1] : sides_[1] - count;
  if (count == 0 || drift > sides_[1] / kDriftPart) return false;
  columns_ = count;
  std::fill(column_.begin(), column_.end(), kNoColumn);
  for (std::uint32_t g = 0; g < count; ++g) {
    for (const PeerIndex peer : groups.group(g)) column_[peer] = g;
  }
  return true;
}

}  // namespace starling::swarm
