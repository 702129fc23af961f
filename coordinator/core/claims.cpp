#include "coordinator/core/claims.h"

#include <algorithm>

namespace starling::core {
namespace {

constexpr RoundIndex kClaimsKept = 32;  // rounds: members report late what they could not report before

}  // namespace

SampleCount claimed_by(const PeerId& reporter, const wire::RoundReport& report) {
  const auto own = std::find_if(report.contributions.begin(), report.contributions.end(),
                                [&](const wire::Contribution& contribution) { return contribution.peer == reporter; });
  return own == report.contributions.end() ? 0 : std::clamp<SampleCount>(own->samples, 0, kMemberSamplesMax);
}

void ClaimBook::on_decided(RoundIndex round, std::span<const wire::Contribution> credited) {
  Round& decided = rounds_[round];
  for (const wire::Contribution& contribution : credited) decided.credited[contribution.peer] = contribution.samples;
  std::erase_if(rounds_, [round](const auto& entry) { return entry.first + kClaimsKept <= round; });
}

SampleCount ClaimBook::unconfirmed(RoundIndex round, const PeerId& peer, SampleCount claimed) {
  const auto decided = rounds_.find(round);
  if (decided == rounds_.end() || !decided->second.heard.insert(peer).second) return 0;
  const auto credited = decided->second.credited.find(peer);
  return std::max<SampleCount>(0, claimed - (credited == decided->second.credited.end() ? 0 : credited->second));
}

}  // namespace starling::core
