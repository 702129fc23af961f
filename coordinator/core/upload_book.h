// The uploads of members as others have seen them. Every report of a round says how fast data of some other members
// came in, in the best moments. An uplink serves all of its group, so a figure counts once for each of the others.
// Figures count by account, those of a member's own account not at all, and of all figures the median counts: a few
// that lie make nobody fast. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <span>

#include "coordinator/core/electorate.h"
#include "coordinator/core/member.h"
#include "shared/base/ids.h"
#include "shared/protocol/round_report.h"

namespace starling::core {

// The figures of the newest rounds.
class UploadBook {
 public:
  // Takes one member's report of a round that it finished in a group with these seats.
  void on_report(const PeerId& reporter, const wire::RoundReport& report, std::span<const Seat> seats);
  // Forgets figures that are old in `round`.
  void begin_round(RoundIndex round);
  [[nodiscard]] SeenUpload of(const PeerId& peer) const;

 private:
  struct Figure {
    RoundIndex round = 0;
    double bytes_per_s = 0;
  };
  std::map<PeerId, std::map<AccountId, Figure>> figures_;
};

}  // namespace starling::core
