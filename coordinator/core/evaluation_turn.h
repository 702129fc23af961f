// Whose turn it is to measure the held-out loss: one member at a time, now and then, since it keeps that
// member from training.
#pragma once

#include <optional>

#include "coordinator/core/types.h"

namespace starling::core {

class EvaluationTurn {
 public:
  explicit EvaluationTurn(std::optional<RoundIndex> evaluated_round) : last_round_(evaluated_round) {}

  // Whether `peer`, which holds the state of `round`, should measure it. Then it is asked once. A run that
  // is not running gets its last figure at once; a running one every evaluation_interval.
  bool ask(TimePoint now, const PeerId& peer, RoundIndex round, bool running, const CoordinatorOptions& options);
  // Whether this answer of `peer` was asked for; then the turn is over.
  bool answered(TimePoint now, const PeerId& peer, RoundIndex round);
  // The member that was asked is gone: somebody else may be.
  void on_gone(const PeerId& peer);
  [[nodiscard]] std::optional<PeerId> asked() const { return asked_ ? std::optional(asked_->peer) : std::nullopt; }

 private:
  struct Asked {
    PeerId peer;
    TimePoint at{};
  };
  std::optional<Asked> asked_;
  std::optional<RoundIndex> last_round_;
  std::optional<TimePoint> last_at_;
};

}  // namespace starling::core
