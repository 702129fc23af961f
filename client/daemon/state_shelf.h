// The states that other volunteers may download from this computer: the model's, or the trunk's and those of cells.
// Donors are asked for a state by its digest alone, and so is the shelf.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "client/daemon/snapshot_keeper.h"
#include "client/transport/state_snapshot.h"
#include "shared/base/ids.h"
#include "shared/base/mutex.h"

namespace starling::daemon {

// All methods may be called from any thread.
class StateShelf {
 public:
  // `snapshots` stays until it is taken away, or the shelf is gone. Nobody gets it while `serving` is false.
  void put(SnapshotKeeper& snapshots, std::shared_ptr<const std::atomic<bool>> serving) EXCLUDES(mutex_);
  // Waits for a copy of it that is being made.
  void take_away(const SnapshotKeeper& snapshots) EXCLUDES(mutex_);
  // A copy of the state with that digest, or null when it is not held or not served. Net thread.
  [[nodiscard]] std::shared_ptr<const transport::StateSnapshot> find(RoundIndex round, const Digest& digest)
      EXCLUDES(mutex_);

 private:
  struct Place {
    SnapshotKeeper* snapshots;
    std::shared_ptr<const std::atomic<bool>> serving;
  };

  Mutex mutex_;
  std::vector<Place> places_ GUARDED_BY(mutex_);
};

}  // namespace starling::daemon
