// The most that a member may claim to have brought to one round.
//
// Nobody sees the computing of another. But no honest member brings many times the samples that the whole swarm gathers
// for a round: it stops there (client/session). Others refuse a contribution that claims more, before they add it up
// (client/averaging), and no report of one counts (coordinator/core). So a lie of that size costs the liar the round,
// and nobody else anything.
#pragma once

#include <algorithm>

#include "shared/base/ids.h"

namespace starling::swarm {

constexpr SampleCount kMemberBatchesMax = 64;  // the coordinator may have been away, and the others, too
constexpr SampleCount kMemberSamplesMax = 1'000'000'000;

// Both arguments come from the run's manifest.
constexpr SampleCount member_samples_max(SampleCount target_batch_size, SampleCount micro_batch_size) {
  return std::min(kMemberBatchesMax * std::min(target_batch_size, kMemberSamplesMax) + micro_batch_size,
                  kMemberSamplesMax);
}

}  // namespace starling::swarm
