// Limits that several of the contracts share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/ids.h"

namespace starling::wire {

constexpr std::size_t kGroupMembersMax = 4096;
constexpr std::int64_t kVectorFloatsMax = std::int64_t{1} << 32;
// limit for one member in one round: sums of weights cannot overflow
constexpr SampleCount kWeightMax = std::int64_t{1} << 40;
constexpr SampleCount kDrawMax = std::int64_t{1} << 48;  // limit for numbers of SampleLease (messages.h)

}  // namespace starling::wire
