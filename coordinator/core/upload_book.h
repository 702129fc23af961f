// The uplinks of members as others have seen them. With its report of a round each member says how fast data of some
// others came in, in the best moments of the links with them (swarm/witnesses.h says about whom). An uplink serves all
// of its group, so a figure counts once for each of the others.
//
// Figures count by account, those of a member's own account and of accounts without a voice not at all. A member's own
// figure is the median of them, so that a few that lie make nobody fast. Beside others, it counts by the figure above
// which a third are: who says that the others carry little makes itself no faster. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "coordinator/core/electorate.h"
#include "coordinator/core/member.h"
#include "shared/base/ids.h"
#include "shared/protocol/round_report.h"

namespace starling::core {

constexpr std::size_t kFiguresMax = 16;  // for each member, the newest of each account

// The figures of the last kRemembered rounds.
class UploadBook {
 public:
  // Takes one member's report of a round that it finished in a group with these seats. Nothing is taken but what the
  // member should speak about.
  void on_report(const PeerId& reporter, const wire::RoundReport& report, std::span<const Seat> seats);
  // Forgets figures that are old in `round`.
  void begin_round(RoundIndex round);
  [[nodiscard]] SeenUpload of(const PeerId& peer) const;

 private:
  struct Figure {
    AccountId account = 0;
    RoundIndex round = 0;
    double bytes_per_s = 0;
  };
  std::map<PeerId, std::vector<Figure>> figures_;
};

}  // namespace starling::core
