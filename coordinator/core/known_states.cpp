#include "coordinator/core/known_states.h"

namespace starling::core {

void KnownStates::add(const KnownState& state) {
  if (state.state_digest.is_zero()) return;
  order_.push_back(state);
  rounds_[state.state_digest] = state.round;
  if (order_.size() <= kStatesMax) return;
  const KnownState oldest = order_.front();
  order_.pop_front();
  if (const auto known = rounds_.find(oldest.state_digest); known != rounds_.end() && known->second == oldest.round) {
    rounds_.erase(known);
  }
}

std::optional<RoundIndex> KnownStates::round_of(const Digest& state_digest) const {
  const auto known = rounds_.find(state_digest);
  return known == rounds_.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace starling::core
