#include "coordinator/core/lanes.h"

#include <algorithm>
#include <string>

#include "shared/base/verify.h"

namespace starling::core {

LaneTable::LaneTable(int lanes_max, RoundIndex round, const std::vector<LaneHolder>& recovered)
    : lanes_max_(lanes_max) {
  std::vector<bool> taken;
  for (const LaneHolder& holder : recovered) {
    if (holder.lane < 0 || holder.lane >= lanes_max) continue;
    holders_[holder.peer] = {holder.lane, round};
    unused_ = std::max(unused_, holder.lane + 1);
    taken.resize(static_cast<std::size_t>(unused_));
    taken[static_cast<std::size_t>(holder.lane)] = true;
  }
  for (int lane = unused_ - 1; lane >= 0; --lane) {
    if (!taken[static_cast<std::size_t>(lane)]) freed_.push_back(lane);
  }
}

Result<std::optional<LaneAssigned>> LaneTable::assign(const PeerId& peer, RoundIndex round,
                                                      const std::function<bool(const PeerId&)>& is_here) {
  if (const auto held = holders_.find(peer); held != holders_.end()) {
    held->second.last_round = round;
    return std::optional<LaneAssigned>();
  }
  LaneAssigned assigned;
  assigned.holder.peer = peer;
  if (!freed_.empty()) {
    assigned.holder.lane = freed_.back();
    freed_.pop_back();
  } else if (unused_ < lanes_max_) {
    assigned.holder.lane = unused_++;
  } else {
    auto idle = holders_.end();
    for (auto entry = holders_.begin(); entry != holders_.end(); ++entry) {
      if (entry->second.last_round + 1 >= round || is_here(entry->first)) continue;
      if (idle == holders_.end() || entry->second.last_round < idle->second.last_round) idle = entry;
    }
    if (idle == holders_.end()) {
      return Error{ErrorCode::resource_exhausted, "the run is full: all of its " + std::to_string(lanes_max_) +
                                                      " places are taken; this computer is asked again later"};
    }
    assigned.holder.lane = idle->second.lane;
    assigned.displaced = idle->first;
    holders_.erase(idle);
  }
  holders_[peer] = {assigned.holder.lane, round};
  return std::optional<LaneAssigned>(assigned);
}

int LaneTable::lane_of(const PeerId& peer) const {
  const auto held = holders_.find(peer);
  VERIFY(held != holders_.end());
  return held->second.lane;
}

}  // namespace starling::core
