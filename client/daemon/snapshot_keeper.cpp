#include "client/daemon/snapshot_keeper.h"

#include <utility>

#include "shared/state/holding_proof.h"
#include "shared/state/state_digest.h"

namespace starling::daemon {
namespace {

struct OwnedSnapshot : transport::StateSnapshot {
  std::vector<float> values;
};

}  // namespace

Result<Digest> SnapshotKeeper::change(RoundIndex round, const std::function<Status()>& write) {
  {
    const MutexLock lock(mutex_);
    held_ = {};  // whatever happens, the state is not the old one; and nobody copies it from here on
    copy_.reset();
  }
  // Runs without the lock: a step takes long, and the net thread must not wait for it.
  STARLING_TRY(write());
  std::vector<Digest> chunk_digests = state::chunk_digests(state_);
  const Digest digest = state::state_digest(std::span<const Digest>(chunk_digests));
  const MutexLock lock(mutex_);
  chunk_digests_ = std::move(chunk_digests);
  held_ = {round, digest};
  return digest;
}

SnapshotKeeper::Held SnapshotKeeper::held() const {
  const MutexLock lock(mutex_);
  return held_;
}

std::optional<Digest> SnapshotKeeper::prove(const Hash128& challenge, const Digest& digest) {
  const MutexLock lock(mutex_);
  if (proof_ && proof_->challenge == challenge && proof_->state == digest) return proof_->digest;
  if (digest.is_zero() || held_.digest != digest) return std::nullopt;
  proof_ = Proof{challenge, digest, state::holding_proof(challenge.bytes, digest, state_)};
  return proof_->digest;
}

std::shared_ptr<const transport::StateSnapshot> SnapshotKeeper::find(RoundIndex round, const Digest& digest) {
  const MutexLock lock(mutex_);
  // The round is only a label: a swarm that lost rounds renumbers a state.
  if (held_.digest.is_zero() || digest != held_.digest) return nullptr;
  if (auto shared = copy_.lock(); shared != nullptr && shared->round == round) return shared;
  auto copy = std::make_shared<OwnedSnapshot>();
  copy->round = round;
  copy->digest = held_.digest;
  copy->chunk_digests = chunk_digests_;
  copy->values.assign(state_.begin(), state_.end());
  copy->floats = copy->values;
  copy->form = form_;
  copy_ = copy;
  return copy;
}

}  // namespace starling::daemon
