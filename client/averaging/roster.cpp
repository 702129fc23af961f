#include "client/averaging/roster.h"

namespace starling::averaging {

Roster::Roster(const wire::GroupInfo& group, Rank self, SampleCount own_weight)
    : self_(self), members_(group.members.size()), lost_(members_.size()), survivors_(members_.size()) {
  for (Rank rank = 0; rank < size(); ++rank) {
    const wire::GroupMember& member = group.members[rank];
    members_[rank].deferred = member.role == wire::MemberRole::deferred;
    deferred_others_ += members_[rank].deferred && rank != self ? 1 : 0;
    members_[rank].dialable = wire::direct(member.endpoint) || member.part_floats > 0;
  }
  members_[self].begun = true;
  learn_weight(self, own_weight);
  for (Rank rank = 0; rank < size(); ++rank) unbegun_ += linked(rank) ? 1 : 0;
  find_owners();
}

void Roster::find_owners() {
  owners_.clear();
  for (const bool deferred : {false, true}) {
    for (Rank rank = 0; rank < size() && (!deferred || owners_.empty()); ++rank) {
      if (members_[rank].dialable && !lost(rank) && members_[rank].deferred == deferred) owners_.push_back(rank);
    }
  }
  if (owners_.empty()) owners_.push_back(self_);
}

bool Roster::begin(Rank rank, SampleCount weight) {
  Member& member = members_[rank];
  if (member.begun) return false;
  member.begun = true;
  learn_weight(rank, weight);
  if (live(rank)) --unbegun_;
  return true;
}

void Roster::learn_weight(Rank rank, SampleCount weight) {
  if (members_[rank].weight_known) return;
  members_[rank].weight_known = true;
  members_[rank].weight = weight;
}

bool Roster::lose(Rank rank) {
  VERIFY(rank != self_);
  if (lost(rank)) return false;
  if (live(rank) && !begun(rank)) --unbegun_;
  lost_.set(rank);
  --survivors_;
  deferred_others_ -= deferred(rank) ? 1 : 0;
  if (members_[rank].dialable) find_owners();
  return true;
}

}  // namespace starling::averaging
