// Members that others have lost: whether they are lost here as well, or their accusers are. Decisions only; the engine
// carries them out. Single-threaded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/averaging/begins.h"
#include "client/averaging/losses.h"
#include "client/averaging/lost_sets.h"
#include "client/averaging/patience.h"
#include "client/averaging/peer_progress.h"
#include "client/averaging/seals.h"

namespace starling::averaging {

class Accusations {
 public:
  // The parts of a member's state by which it judges; all outlive this object.
  struct Parts {
    const wire::GroupInfo& group;
    const Roster& roster;
    const Begins& begins;
    const PeerProgress& progress;
    const Seals& seals;
    Losses& losses;
    Patience& patience;
  };

  Accusations(const AllReduceOptions& options, const Parts& parts)
      : parts_(parts),
        sets_(parts.group, parts.roster, options),
        passed_on_(parts.roster.size()),
        answered_at_(parts.roster.size(), kNever) {}

  [[nodiscard]] LostSets& sets() { return sets_; }

  // Takes a member's signed set, sent by anybody, as LostSets::take() does. Who passes on that it is lost itself has
  // answered the accusation, and those who hear that wait no longer for it.
  Result<bool> take(TimePoint now, Rank sender, const wire::LostSet& said);
  // Whether to pass on a set of this member that is news: its first ones are, and those that come after them reach the
  // others from itself alone. A member may sign as many sets as there are members, each with one more.
  [[nodiscard]] bool pass_on(Rank rank) { return ++passed_on_[rank] <= kPassedOnMax; }
  // This process stood still for this long, which is nobody else's fault.
  void on_overslept(Duration slept);

  // To be called before the three that follow.
  void note(TimePoint now);
  // Members that are lost because they are not well here either, or because enough others say so.
  [[nodiscard]] std::vector<LostMember> confirmed(TimePoint now);
  // Those who are lost because the time of one accusation is up: the accusers, if nothing has confirmed it. Empty when
  // there is none. Patience wakes this member for the others.
  [[nodiscard]] std::vector<LostMember> ended(TimePoint now);
  // The reason why this member is out: enough others have lost it; or some have, and nobody confirms what it says of
  // others. Empty while it is not out.
  [[nodiscard]] std::string out(TimePoint now) const;

 private:
  static constexpr int kPassedOnMax = 16;

  [[nodiscard]] bool disputed() const {
    return !parts_.seals.proofs().empty() || parts_.seals.dispute_ends() != kNever;  // a proof may be on its way here
  }
  // When the time for the begin of a member that others have lost is over, if it has not begun here or anywhere.
  [[nodiscard]] std::optional<TimePoint> begins_by(Rank accused) const;
  // When the accusers are lost unless others confirm what they say.
  [[nodiscard]] TimePoint ends(Rank accused) const;
  [[nodiscard]] std::vector<LostMember> unconfirmed(Rank accused);

  Parts parts_;
  LostSets sets_;
  std::vector<int> passed_on_;          // by rank: sets of the member that were news
  std::vector<TimePoint> answered_at_;  // by rank: when the member first answered its present accusers here
};

}  // namespace starling::averaging
