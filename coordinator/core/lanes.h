// The table of members and their sample lanes. A member keeps its lane over absences; when every lane has been given,
// the one that has been idle longest is taken back.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "coordinator/core/types.h"

namespace starling::core {

// Lanes and their holders.
class LaneTable {
 public:
  LaneTable(int lanes_max, RoundIndex round, const std::vector<LaneHolder>& recovered);

  // Returns the assignment to store, or nothing when the peer holds a lane already. resource_exhausted: every lane
  // belongs to a member that `is_here`, or that worked in this round or the one before.
  Result<std::optional<LaneAssigned>> assign(const PeerId& peer, RoundIndex round,
                                             const std::function<bool(const PeerId&)>& is_here);
  [[nodiscard]] int lane_of(const PeerId& peer) const;

 private:
  struct Holding {
    int lane = 0;
    RoundIndex last_round = 0;  // the last round in which its samples may have been used
  };

  int lanes_max_;
  int unused_ = 0;          // lanes below it have been given at some time, or are listed in freed_
  std::vector<int> freed_;  // below unused_, held by nobody; largest first
  std::map<PeerId, Holding> holders_;
};

}  // namespace starling::core
