// Newcomers that were lately told to get the state from a member: that member hears their names, and serves nobody
// else. Pure.
#pragma once

#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/protocol/group_info.h"

namespace starling::core {

class Introductions {
 public:
  // An introduction lasts for several calls of a donor, because a reply may be lost.
  static constexpr Duration kLast = std::chrono::minutes(2);

  // This newcomer has been told to ask these donors.
  void introduce(TimePoint now, const PeerId& newcomer, std::span<const wire::Endpoint> donors);
  // Returns the newcomers that may ask this donor: the newest wire::kNewcomersMax.
  [[nodiscard]] std::vector<PeerId> newcomers_of(TimePoint now, const PeerId& donor);
  // Forgets introductions that are over. Call it now and then.
  void sweep(TimePoint now);

 private:
  struct Introduction {
    PeerId newcomer;
    TimePoint until{};
  };
  std::unordered_map<PeerId, std::deque<Introduction>> by_donor_;  // oldest first, kNewcomersMax for each at most
};

}  // namespace starling::core
