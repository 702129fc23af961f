#include "coordinator/core/checkpoint_turn.h"

namespace starling::core {
namespace {

constexpr std::size_t kFailedMax = 256;
// The first piece of a copy comes within this time, on most lines.
constexpr Duration kBeginsWithin = std::chrono::seconds(3);

}  // namespace

bool CheckpointTurn::due(TimePoint now, RoundIndex round, const CoordinatorOptions& options) const {
  if (every_ <= 0 || round <= 0) return false;
  if (turn_ && now - turn_->heard < options.checkpoints.patience) return false;
  if (last_at_ && now - *last_at_ < options.checkpoints.interval) return false;
  return round >= (newest_ ? newest_->round : 0) + every_;
}

bool CheckpointTurn::ask(TimePoint now, const PeerId& peer, RoundIndex round, const Digest& state_digest,
                         const CoordinatorOptions& options) {
  if (due(now, round, options)) {
    if (turn_) given_up(now, turn_->peer);
    turn_ = Turn{peer, round, state_digest, now, false};
    return true;
  }
  if (!turn_ || turn_->peer != peer) return false;
  // The answer may have been lost; a member that still has the state can begin then.
  if (turn_->state_digest == state_digest) return true;
  if (turn_->is_settled || now - turn_->heard < kBeginsWithin) return false;
  turn_ = Turn{peer, round, state_digest, now, true};
  return true;
}

const CheckpointTurn::Turn* CheckpointTurn::heard(TimePoint now, const PeerId& peer) {
  if (!turn_ || turn_->peer != peer) return nullptr;
  turn_->heard = now;
  turn_->is_settled = true;
  return &*turn_;
}

void CheckpointTurn::given_up(TimePoint now, const PeerId& peer) {
  if (!turn_ || turn_->peer != peer) return;
  if (failed_.size() >= kFailedMax) failed_.clear();
  failed_.insert(peer);
  turn_.reset();
  last_at_ = now;
}

void CheckpointTurn::kept(TimePoint now, const wire::Checkpoint& checkpoint) {
  turn_.reset();
  failed_.clear();
  last_at_ = now;
  newest_ = checkpoint;
}

}  // namespace starling::core
