// Leased samples whose gradient can not be had, as the computer that tried says:
//   POST /v1/unusable-samples      UnusableSamples -> {}       (client certificate required)
// It is told once: what is lost on the way is found again by whoever is leased such a sample next.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::wire {

constexpr std::size_t kUnusableDrawsMax = 64;  // in one message

struct UnusableSamples {
  RunId run_id;
  std::int64_t process = 0;  // Heartbeat's: whose leases they are of
  // Their numbers (SampleLease), each the only sample of its batch, whose gradient was not finite while that of a later
  // batch was. A gradient that has samples before and after such a one counts it, with nothing.
  std::vector<SampleCount> draws;
};

std::string encode(const UnusableSamples& message);
Result<UnusableSamples> decode_unusable_samples(std::string_view json);

}  // namespace starling::wire
