// Who says of whom that it is lost, under each member's own signature, so that it can be passed on and counted. One
// account's word is not enough for the loss of a member that is well here: the group goes on without the one whose word
// stands alone. Single-threaded.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "client/averaging/roster.h"
#include "client/averaging/round_types.h"
#include "shared/protocol/group_info.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

class LostSets {
 public:
  // The references outlive this object.
  LostSets(const wire::GroupInfo& group, const Roster& roster, const AllReduceOptions& options);

  // The member is about to be lost for what it says of others.
  void judge(Rank rank) { judged_[roster_.self()].set(rank); }
  // Signs the roster's lost set as this member's word.
  const wire::LostSet& sign_own(TimePoint now);
  // Signs that this member is out itself.
  void sign_off();

  // Takes a member's signed set, from itself or passed on by anybody. True if it names a survivor that its sender had
  // not named before. An error means that no honest member sends it.
  Result<bool> take(TimePoint now, const wire::LostSet& said);
  // This process stood still for this long, which is nobody else's fault.
  void on_overslept(Duration slept);
  // The newest set kept of a member.
  [[nodiscard]] const wire::LostSet& of(Rank rank) const { return *sets_[rank]; }
  // The one that came with a member's inventory.
  [[nodiscard]] wire::LostSet in(Rank rank, const wire::Inventory& inventory) const {
    return {static_cast<std::uint32_t>(rank), plan_digest_, inventory.lost, inventory.signature, inventory.judged};
  }

  // Whether anybody, lost or not, has ever accused the member.
  [[nodiscard]] bool accused(Rank accused) const { return ever_.test(accused); }
  [[nodiscard]] bool accuses(Rank accuser, Rank accused) const { return said_[accuser].test(accused); }
  // The accuser has lost the accused for what that one says of a member that is not lost here. It counts as a vote, and
  // as an accusation only if that member is lost after all.
  [[nodiscard]] bool follows(Rank accuser, Rank accused) const;
  // The survivors that accuse a member, and not only for what it says of others that is still undecided here.
  [[nodiscard]] std::vector<Rank> accusers(Rank accused) const;
  // When the present accusations of a member began. Call note_accused() first.
  [[nodiscard]] TimePoint accused_at(Rank accused) const { return accused_at_[accused]; }
  // Somebody has said something, or was lost.
  void note_accused(TimePoint now);
  // At least half of the votes of those that could tell (members with a link to it, and the member itself) are against
  // the member, or it is late, or says so itself. So the group goes on without the smaller side, and keeps its
  // majority.
  [[nodiscard]] bool believed(Rank accused) const;
  // Others may have given the member up when its begin was not there in time for them: until then nobody is at odds
  // who accuses it. TimePoint::min(): it has begun.
  void set_undecided(Rank accused, TimePoint until) { undecided_until_[accused] = until; }
  // Since when the member accuses one that is not lost here, and is not believed; kNever while it does not. This member
  // itself is at odds when it accuses anybody and is not believed. May lie ahead.
  [[nodiscard]] TimePoint at_odds_since(Rank accuser) const;
  // Which of two members that accuse each other the group goes on without: the one with fewer votes or, if they have
  // equally many, with the lower rank. That one complains first when their link breaks (Patience), so it goes in any
  // case.
  [[nodiscard]] Rank weaker(Rank one, Rank other) const;

 private:
  const wire::GroupInfo& group_;
  const Roster& roster_;
  Hash128 plan_digest_;
  std::shared_ptr<const crypto::PeerSigner> signer_;
  std::vector<std::optional<wire::LostSet>> sets_;      // by rank
  std::vector<wire::RankSet> said_;                     // by rank: all that the member has said
  wire::RankSet ever_;                                  // all that others have said
  std::vector<wire::RankSet> judged_;                   // by rank: those among them whom it lost for what they say
  std::vector<bool> accused_;                           // by rank: when last noted
  std::vector<TimePoint> accused_at_;                   // by rank
  std::vector<TimePoint> undecided_until_;              // by rank
  std::map<std::pair<Rank, Rank>, TimePoint> said_at_;  // by accuser and accused: when it was first said
};

}  // namespace starling::averaging
