#include "client/averaging/roster.h"

#include <map>

namespace starling::averaging {
namespace {

// An account's vote: divisible by any number of members that an account commonly has in a group. A remainder of the
// division is nobody's; all members of the group compute that alike.
constexpr Votes kVotesOfAccount = 720720;

}  // namespace

Roster::Roster(const wire::GroupInfo& group, Rank self, const ContributionTerms& own)
    : self_(self), members_(group.members.size()), lost_(members_.size()), survivors_(members_.size()) {
  for (Rank rank = 0; rank < size(); ++rank) {
    const wire::GroupMember& member = group.members[rank];
    members_[rank].deferred = member.role == wire::MemberRole::deferred;
    members_[rank].late = member.role == wire::MemberRole::late;
    members_[rank].dialable = wire::direct(member.endpoint) || member.part_floats > 0;
  }
  deal_votes(group);
  members_[self].begun = true;
  learn_terms(self, own);
  for (Rank rank = 0; rank < size(); ++rank) unbegun_ += linked(rank) && !late(rank) ? 1 : 0;
  find_owners();
}

void Roster::deal_votes(const wire::GroupInfo& group) {
  std::map<std::uint32_t, Votes> members_of;  // by voter: the number of members that are not late
  for (Rank rank = 0; rank < size(); ++rank) members_of[group.members[rank].voter] += late(rank) ? 0 : 1;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (late(rank)) continue;
    const std::uint32_t voter = group.members[rank].voter;
    members_[rank].votes = kVotesOfAccount / (voter == 0 ? 1 : members_of[voter]);
    all_votes_ += votes(rank);
    if (deferred(rank) && rank != self_) deferred_votes_ += votes(rank);
  }
  surviving_votes_ = all_votes_;
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

std::vector<LostMember> Roster::late_and_missing() const {
  std::vector<LostMember> missing;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (late(rank) && live(rank) && !begun(rank)) missing.push_back({rank, "came too late"});
  }
  return missing;
}

bool Roster::begin(Rank rank, const ContributionTerms& terms) {
  Member& member = members_[rank];
  if (member.begun) return false;
  member.begun = true;
  learn_terms(rank, terms);
  if (live(rank) && !late(rank)) --unbegun_;
  return true;
}

void Roster::learn_terms(Rank rank, const ContributionTerms& terms) {
  if (!members_[rank].weight_known) set_terms(rank, terms);
}

void Roster::learn_terms_of_lost(const wire::Inventory& inventory) {
  std::size_t index = 0;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (!inventory.lost.test(rank)) continue;
    const ContributionTerms terms{inventory.weights[index], inventory.draws.empty() ? 0 : inventory.draws[index]};
    ++index;
    if (lost(rank) && terms.weight != wire::kWeightUnknown) learn_terms(rank, terms);
  }
}

void Roster::set_terms(Rank rank, const ContributionTerms& terms) {
  members_[rank].weight_known = true;
  members_[rank].terms = terms;
}

bool Roster::lose(Rank rank) {
  VERIFY(rank != self_);
  if (lost(rank)) return false;
  if (live(rank) && !begun(rank) && !late(rank)) --unbegun_;
  lost_.set(rank);
  --survivors_;
  surviving_votes_ -= votes(rank);
  if (deferred(rank)) deferred_votes_ -= votes(rank);
  if (members_[rank].dialable) find_owners();
  return true;
}

void Roster::forget_losses() {
  for (Rank rank = 0; rank < size(); ++rank) {
    if (!lost(rank)) continue;
    lost_.reset(rank);
    ++survivors_;
    surviving_votes_ += votes(rank);
    if (deferred(rank)) deferred_votes_ += votes(rank);
    if (live(rank) && !begun(rank) && !late(rank)) ++unbegun_;
  }
  find_owners();
}

}  // namespace starling::averaging
