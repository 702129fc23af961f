// The states that decided rounds began with, by name. A member that holds one of them holds a state that the swarm once
// agreed on, so its word alone is enough to go back to it. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "coordinator/core/types.h"

namespace starling::core {

// The newest of these states.
class KnownStates {
 public:
  static constexpr std::size_t kStatesMax = 4096;  // the newest are remembered

  void add(const KnownState& state);
  // Returns the round that began with this state; the newest, if it was several.
  [[nodiscard]] std::optional<RoundIndex> round_of(const Digest& state_digest) const;

 private:
  std::deque<KnownState> order_;
  std::map<Digest, RoundIndex> rounds_;
};

}  // namespace starling::core
