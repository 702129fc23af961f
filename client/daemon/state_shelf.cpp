#include "client/daemon/state_shelf.h"

#include <utility>

namespace starling::daemon {

void StateShelf::put(SnapshotKeeper& snapshots, std::shared_ptr<const std::atomic<bool>> serving) {
  const MutexLock lock(mutex_);
  places_.push_back({&snapshots, std::move(serving)});
}

void StateShelf::take_away(const SnapshotKeeper& snapshots) {
  const MutexLock lock(mutex_);
  std::erase_if(places_, [&snapshots](const Place& place) { return place.snapshots == &snapshots; });
}

std::shared_ptr<const transport::StateSnapshot> StateShelf::find(RoundIndex round, const Digest& digest) {
  const MutexLock lock(mutex_);
  for (const Place& place : places_) {
    if (!*place.serving) continue;
    if (auto found = place.snapshots->find(round, digest); found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace starling::daemon
