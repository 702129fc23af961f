#include "coordinator/core/evaluation_turn.h"

#include <algorithm>

namespace starling::core {

bool EvaluationTurn::ask(TimePoint now, const PeerId& peer, RoundIndex round, bool running,
                         const CoordinatorOptions& options) {
  if (asked_ && now - asked_->at < options.evaluation_timeout) {
    // The answer of a lost reply never comes: asking the same member again does no harm.
    return asked_->peer == peer && now - asked_->at > options.evaluation_interval;
  }
  if (last_round_ && round <= *last_round_) return false;
  if (running && last_at_ && now - *last_at_ < options.evaluation_interval) return false;
  asked_ = Asked{peer, now};
  return true;
}

bool EvaluationTurn::answered(TimePoint now, const PeerId& peer, RoundIndex round) {
  if (!asked_ || asked_->peer != peer) return false;
  asked_.reset();
  last_round_ = std::max(last_round_.value_or(0), round);
  last_at_ = now;
  return true;
}

void EvaluationTurn::on_gone(const PeerId& peer) {
  if (asked_ && asked_->peer == peer) asked_.reset();
}

}  // namespace starling::core
