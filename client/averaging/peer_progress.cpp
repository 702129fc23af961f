#include "client/averaging/peer_progress.h"

namespace starling::averaging {

void PeerProgress::forget_results() {
  result_.reset();
  for (Peer& peer : peers_) peer.done.reset();
}

void PeerProgress::forget_wants() {
  for (Peer& peer : peers_) peer.wants_open = 0;
}

// A member that only serves a deferred member may leave when that one no longer needs it.
void PeerProgress::on_link_lost(Rank rank) {
  peers_[rank].severed = !finished_with(rank) && !(roster_.deferred(roster_.self()) && owes_nothing(rank));
}

bool PeerProgress::finished_with(Rank rank) const {
  return result_ && peers_[rank].done == result_ && (!recovery_.in_view() || recovery_.noted(rank));
}

bool PeerProgress::owes_nothing(Rank rank) const {
  const Peer& peer = peers_[rank];
  const bool gave_all = peer.done && table_.missing(rank) == 0 && peer.wants_open == 0;
  return gave_all && (!recovery_.in_view() || recovery_.noted(rank));
}

std::vector<bool> PeerProgress::owing_results() const {
  std::vector<bool> owing(roster_.size());
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (table_.missing(rank) == 0) continue;
    if (!roster_.lost(rank)) {
      owing[rank] = true;
      continue;
    }
    for (SegmentIndex segment = table_.first(rank); segment < table_.first(rank + 1); ++segment) {
      if (!table_.held(segment)) owing[roster_.new_owner(segment)] = true;
    }
  }
  return owing;
}

}  // namespace starling::averaging
