// Samples that members say they brought and that their groups do not confirm. A member claims such samples if it ends a
// round with another result than the one that counts, by a broken line, a broken computer or a lie. They are credited
// to nobody, and shown.
#pragma once

#include <map>
#include <set>
#include <span>

#include "coordinator/core/types.h"

namespace starling::core {

// Returns the samples that `reporter` claims for itself in a report that nobody may have checked.
SampleCount claimed_by(const PeerId& reporter, const wire::RoundReport& report);

// The claims of the newest rounds.
class ClaimBook {
 public:
  // Notes the contributions that were credited for the round, by peer. Old rounds are forgotten.
  void on_decided(RoundIndex round, std::span<const wire::Contribution> credited);
  // Returns how much of the samples that `peer` claims is not credited. Only the first claim of a peer in a round is
  // heard. Returns 0 for rounds that are no longer remembered.
  SampleCount unconfirmed(RoundIndex round, const PeerId& peer, SampleCount claimed);

 private:
  struct Round {
    std::map<PeerId, SampleCount> credited;
    std::set<PeerId> heard;
  };
  std::map<RoundIndex, Round> rounds_;
};

}  // namespace starling::core
