// Copies of the replica's state for newcomers. The stepping thread changes the state; the net thread gets copies that
// no later step touches, made only on request. While the state changes it has no name, and there is no copy: the net
// thread never waits for a change.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/transport/state_snapshot.h"
#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

namespace starling::daemon {

class SnapshotKeeper {
 public:
  // `state` outlives this object and is only written inside change(). `form`: its form in transit.
  explicit SnapshotKeeper(std::span<const float> state, const wire::StateForm& form = {})
      : state_(state), form_(form) {}

  // Runs `write` (which may alter the state) and, when it succeeds, names the result: the state of `round`.
  // One thread at a time.
  Result<Digest> change(RoundIndex round, const std::function<Status()>& write) EXCLUDES(mutex_);

  struct Held {
    RoundIndex round = 0;
    Digest digest;
  };
  // The state's name; the digest is zero when the last change failed, and the state may be anything.
  [[nodiscard]] Held held() const EXCLUDES(mutex_);

  // Returns the proof that the state with that digest is here (state::holding_proof), or nothing if it is not. The last
  // proof can be had again while the state changes.
  std::optional<Digest> prove(const Hash128& challenge, const Digest& digest) EXCLUDES(mutex_);

  // Returns a copy of the state with that digest, or null when it is not held: not any more, or not yet. Net thread.
  std::shared_ptr<const transport::StateSnapshot> find(RoundIndex round, const Digest& digest) EXCLUDES(mutex_);

 private:
  std::span<const float> state_;
  wire::StateForm form_;
  mutable Mutex mutex_;
  struct Proof {
    Hash128 challenge;
    Digest state;
    Digest digest;
  };

  Held held_ GUARDED_BY(mutex_);
  std::optional<Proof> proof_ GUARDED_BY(mutex_);  // the last one
  std::vector<Digest> chunk_digests_ GUARDED_BY(mutex_);
  std::weak_ptr<const transport::StateSnapshot> copy_ GUARDED_BY(mutex_);  // shared by all downloads at the moment
};

}  // namespace starling::daemon
