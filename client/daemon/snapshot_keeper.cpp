#include "client/daemon/snapshot_keeper.h"

#include <utility>

namespace starling::daemon {
namespace {

struct OwnedSnapshot : transport::StateSnapshot {
  std::vector<float> values;
};

}  // namespace

Result<Digest> SnapshotKeeper::change(RoundIndex round, const std::function<Status()>& write) {
  const MutexLock lock(mutex_);
  digest_ = Digest{};  // whatever happens, the state is not what it was
  copy_.reset();
  STARLING_TRY(write());
  chunk_digests_ = transport::chunk_digests(state_);
  digest_ = transport::state_digest(std::span<const Digest>(chunk_digests_));
  round_ = round;
  return digest_;
}

std::shared_ptr<const transport::StateSnapshot> SnapshotKeeper::find(RoundIndex round, const Digest& digest) {
  const MutexLock lock(mutex_);
  // The round is only a label: a swarm that lost rounds numbers a state anew.
  if (digest_.is_zero() || digest != digest_) return nullptr;
  if (auto shared = copy_.lock(); shared != nullptr && shared->round == round) return shared;
  auto copy = std::make_shared<OwnedSnapshot>();
  copy->round = round;
  copy->digest = digest_;
  copy->chunk_digests = chunk_digests_;
  copy->values.assign(state_.begin(), state_.end());
  copy->floats = copy->values;
  copy_ = copy;
  return copy;
}

}  // namespace starling::daemon
