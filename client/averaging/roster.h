// This member's knowledge of the others in one round: who has begun and with what weight, who is lost, who has a link
// to whom. The lost set only grows.
#pragma once

#include <cstdint>
#include <vector>

#include "client/averaging/round_types.h"
#include "shared/protocol/group_info.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

using Votes = std::int64_t;

class Roster {
 public:
  Roster(const wire::GroupInfo& group, Rank self, const ContributionTerms& own);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] Rank self() const { return self_; }

  // A member that can be dialled has links with all others; two members that cannot have none.
  [[nodiscard]] bool dialable(Rank rank) const { return members_[rank].dialable; }
  [[nodiscard]] bool linked(Rank one, Rank other) const {
    return one != other && (members_[one].dialable || members_[other].dialable);
  }
  // With this member.
  [[nodiscard]] bool linked(Rank rank) const { return linked(rank, self_); }

  // A late member was not there when the plan was made. It has no say in what counts, and it is out if it has not begun
  // when a sum of all others could be closed, or when others are lost.
  [[nodiscard]] bool late(Rank rank) const { return members_[rank].late; }
  // Late members that have not begun, to be lost once a sum could be closed or others are lost.
  [[nodiscard]] std::vector<LostMember> late_and_missing() const;
  // The member's share of its account's vote (GroupMember::voter). Each account of the group has an equal vote, divided
  // among its members that are not late; late members have none.
  [[nodiscard]] Votes votes(Rank rank) const { return members_[rank].votes; }
  [[nodiscard]] Votes all_votes() const { return all_votes_; }
  [[nodiscard]] Votes surviving_votes() const { return surviving_votes_; }
  // Two disjoint sets of members cannot both have a majority.
  [[nodiscard]] bool is_majority(Votes votes) const { return 2 * votes > all_votes_; }

  // A deferred member takes results as fast as its line allows. The others wait for its contributions, but not for its
  // done (see waits_for_done_of).
  [[nodiscard]] bool deferred(Rank rank) const { return members_[rank].deferred; }
  // Nobody waits for the done of a deferred member as long as the other survivors are a majority of the group: two
  // results can then not both have a majority.
  [[nodiscard]] bool waits_for_done_of(Rank rank) const {
    return live(rank) && !late(rank) && (!deferred(rank) || !is_majority(surviving_votes_ - deferred_votes_));
  }

  // The member's own begin arrived here. False when it had arrived before.
  bool begin(Rank rank, const ContributionTerms& terms);
  [[nodiscard]] bool begun(Rank rank) const { return members_[rank].begun; }
  // Another member said on what terms this one began.
  void learn_terms(Rank rank, const ContributionTerms& terms);
  // Learns those of lost members from another one's inventory.
  void learn_terms_of_lost(const wire::Inventory& inventory);
  // Sets the terms that were averaged in, whatever the member itself said: another process may have begun in its place.
  void set_terms(Rank rank, const ContributionTerms& terms);
  [[nodiscard]] bool weight_known(Rank rank) const { return members_[rank].weight_known; }
  // 0 while unknown.
  [[nodiscard]] SampleCount weight(Rank rank) const { return members_[rank].terms.weight; }
  [[nodiscard]] const ContributionTerms& terms(Rank rank) const { return members_[rank].terms; }
  // Survivors with a link to this member that have not begun; late ones do not count.
  [[nodiscard]] std::size_t unbegun() const { return unbegun_; }

  // False when it was lost already. Never call it for this member itself.
  bool lose(Rank rank);
  // This member's own losses turn out to be its own trouble: it has lost nobody.
  void forget_losses();
  [[nodiscard]] bool lost(Rank rank) const { return lost_.test(rank); }
  [[nodiscard]] const wire::RankSet& lost_set() const { return lost_; }
  // Number of survivors, this member included.
  [[nodiscard]] std::size_t survivors() const { return survivors_; }
  [[nodiscard]] bool live(Rank rank) const { return linked(rank) && !lost(rank); }

  // The new owner of an orphan. Survivors that can be dialled take turns; deferred and late ones only when no other is
  // left.
  [[nodiscard]] Rank new_owner(std::size_t segment) const { return owners_[segment % owners_.size()]; }
  // The survivor that tells members without links about each other. Meaningless when no survivor can be dialled.
  [[nodiscard]] Rank hub() const { return owners_.front(); }

 private:
  struct Member {
    bool dialable = false;
    bool deferred = false;
    bool late = false;
    bool begun = false;
    bool weight_known = false;
    Votes votes = 0;
    ContributionTerms terms;
  };
  void deal_votes(const wire::GroupInfo& group);
  void find_owners();

  Rank self_;
  std::vector<Member> members_;
  wire::RankSet lost_;
  std::size_t survivors_;
  Votes all_votes_ = 0;
  Votes surviving_votes_ = 0;
  Votes deferred_votes_ = 0;  // votes of deferred survivors other than this member
  std::size_t unbegun_ = 0;
  std::vector<Rank> owners_;
};

}  // namespace starling::averaging
