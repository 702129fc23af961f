// Samples that members say they brought and that their groups do not confirm: whoever ends a round with another result
// than the one that counts, be it by a broken line, a broken computer or a lie. They are credited to nobody, and shown.
#pragma once

#include <map>
#include <set>
#include <span>

#include "coordinator/core/types.h"

namespace starling::core {

// What `reporter` says of itself in a report that nobody may have checked.
SampleCount claimed_by(const PeerId& reporter, const wire::RoundReport& report);

class ClaimBook {
 public:
  // The contributions that were credited for the round, by peer. Rounds of long ago are forgotten.
  void on_decided(RoundIndex round, std::span<const wire::Contribution> credited);
  // How much of what `peer` claims is not credited. Whoever claimed once for a round is not heard on it again; of
  // rounds that are not remembered nothing is known: 0.
  SampleCount unconfirmed(RoundIndex round, const PeerId& peer, SampleCount claimed);

 private:
  struct Round {
    std::map<PeerId, SampleCount> credited;
    std::set<PeerId> heard;
  };
  std::map<RoundIndex, Round> rounds_;
};

}  // namespace starling::core
