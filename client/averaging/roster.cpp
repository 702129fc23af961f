#include "client/averaging/roster.h"

namespace starling::averaging {

Roster::Roster(const wire::GroupInfo& group, Rank self, const Stake& own)
    : self_(self), members_(group.members.size()), lost_(members_.size()), survivors_(members_.size()) {
  for (Rank rank = 0; rank < size(); ++rank) {
    const wire::GroupMember& member = group.members[rank];
    members_[rank].deferred = member.role == wire::MemberRole::deferred;
    members_[rank].late = member.role == wire::MemberRole::late;
    voters_ += members_[rank].late ? 0 : 1;
    deferred_others_ += members_[rank].deferred && rank != self ? 1 : 0;
    members_[rank].dialable = wire::direct(member.endpoint) || member.part_floats > 0;
  }
  surviving_voters_ = voters_;
  members_[self].begun = true;
  learn_stake(self, own);
  for (Rank rank = 0; rank < size(); ++rank) unbegun_ += linked(rank) && !late(rank) ? 1 : 0;
  find_owners();
}

void Roster::find_owners() {
  owners_.clear();
  for (const bool waited_for : {true, false}) {
    for (Rank rank = 0; rank < size() && (waited_for || owners_.empty()); ++rank) {
      const bool waits = !members_[rank].deferred && !members_[rank].late;
      if (members_[rank].dialable && !lost(rank) && waits == waited_for) owners_.push_back(rank);
    }
  }
  if (owners_.empty()) owners_.push_back(self_);
}

bool Roster::begin(Rank rank, const Stake& stake) {
  Member& member = members_[rank];
  if (member.begun) return false;
  member.begun = true;
  learn_stake(rank, stake);
  if (live(rank) && !late(rank)) --unbegun_;
  return true;
}

void Roster::learn_stake(Rank rank, const Stake& stake) {
  if (!members_[rank].weight_known) set_stake(rank, stake);
}

void Roster::set_stake(Rank rank, const Stake& stake) {
  members_[rank].weight_known = true;
  members_[rank].stake = stake;
}

bool Roster::lose(Rank rank) {
  VERIFY(rank != self_);
  if (lost(rank)) return false;
  if (live(rank) && !begun(rank) && !late(rank)) --unbegun_;
  lost_.set(rank);
  --survivors_;
  surviving_voters_ -= late(rank) ? 0 : 1;
  deferred_others_ -= deferred(rank) ? 1 : 0;
  if (members_[rank].dialable) find_owners();
  return true;
}

}  // namespace starling::averaging
