// Leased samples whose gradient cannot be had, reported by the computer that tried:
//   POST /v1/unusable-samples      UnusableSamples -> {}       (client certificate required)
// It is sent once: if it is lost, the next holder of such a sample finds it again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::wire {

constexpr std::size_t kUnusableDrawsMax = 64;  // limit for one message

struct UnusableSamples {
  RunId run_id;
  std::int64_t process = 0;  // Heartbeat's: the process whose leases they are of
  // Their numbers (SampleLease), each the only sample of its batch, whose gradient was not finite while that of a later
  // batch was. A gradient that has samples before and after such a one counts it, although it adds nothing.
  std::vector<SampleCount> draws;
};

std::string encode(const UnusableSamples& message);
Result<UnusableSamples> decode_unusable_samples(std::string_view json);

}  // namespace starling::wire
