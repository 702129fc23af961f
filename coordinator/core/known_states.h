// The states that decided rounds began with, by name. Whoever holds one of them holds what the swarm once agreed on, so
// a single member's word is enough to go back to it. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "coordinator/core/types.h"

namespace starling::core {

class KnownStates {
 public:
  static constexpr std::size_t kStatesMax = 4096;  // remembered, the newest

  void add(const KnownState& state);
  // The round that began with this state; the newest, if it was several.
  [[nodiscard]] std::optional<RoundIndex> round_of(const Digest& state_digest) const;

 private:
  std::deque<KnownState> order_;
  std::map<Digest, RoundIndex> rounds_;
};

}  // namespace starling::core
