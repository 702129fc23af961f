// Ranges of samples that a member has drawn, counted and cut into pieces for its auditors. Pure.
#pragma once

#include <vector>

#include "coordinator/core/types.h"
#include "shared/base/ids.h"
#include "shared/protocol/audit.h"

namespace starling::core {

SampleCount count_of(const std::vector<wire::SampleRange>& samples);
SampleCount count_of(const std::vector<DrawnSamples>& drawn);
// The first `count` that were drawn, without those that were passed over.
std::vector<wire::SampleRange> first_of(const std::vector<DrawnSamples>& drawn, SampleCount count);
// `count` of the samples, from this place on.
std::vector<wire::SampleRange> cut(const std::vector<wire::SampleRange>& samples, SampleCount from, SampleCount count);
// Returns as many samples that the member drew, or nearly, from a place on that nobody foresees (0 to 1): it does not
// know their sum.
std::vector<wire::SampleRange> others_than(const std::vector<wire::SampleRange>& samples,
                                           const std::vector<DrawnSamples>& drawn, double place);

}  // namespace starling::core
