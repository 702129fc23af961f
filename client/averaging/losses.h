// The members that a round has lost, with the reasons; the faults that this member saw itself, and the accusations that
// it heard.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "client/averaging/roster.h"

namespace starling::averaging {

class Losses {
 public:
  // `roster` outlives this object.
  explicit Losses(const Roster& roster) : roster_(roster), faults_(roster.size()) {}

  // This member itself saw the fault. The first one counts, and only before the member is lost.
  void saw(Rank rank, wire::Fault fault) {
    if (roster_.late(rank) && !roster_.begun(rank)) return;  // nobody promised that this member would come
    if (!roster_.lost(rank) && !faults_[rank]) faults_[rank] = fault;
  }
  // A member says that another one is lost, which is well here.
  void accuse(Rank accuser, Rank accused) { accusations_.push_back({accuser, accused}); }
  [[nodiscard]] const std::vector<Accusation>& accusations() const { return accusations_; }
  void add(LostMember lost) { lost_.push_back(std::move(lost)); }
  // Goes on with the reason of the loss added last.
  void explain(std::string_view more) { lost_.back().reason.append(more); }

  [[nodiscard]] const std::vector<LostMember>& lost() const { return lost_; }
  // By rank.
  [[nodiscard]] std::vector<SeenFault> faults() const {
    std::vector<SeenFault> seen;
    for (Rank rank = 0; rank < faults_.size(); ++rank) {
      if (faults_[rank]) seen.push_back({rank, *faults_[rank]});
    }
    return seen;
  }

 private:
  const Roster& roster_;
  std::vector<LostMember> lost_;
  std::vector<Accusation> accusations_;
  std::vector<std::optional<wire::Fault>> faults_;  // by rank
};

}  // namespace starling::averaging
