// The sum to which a batch adds, and how the trainer begins the batch.
#pragma once

#include <cstdint>
#include <span>

#include "shared/base/ids.h"

namespace starling::rounds {

// Names the round whose gradient a batch adds to, and says whether the batch is the first that does: then the sum
// starts from zero. The last flag: everything computed before is forgotten, also sums that rounds had not asked for yet
// (fragment_sums.h).
struct BatchTarget {
  bool next_round = false;
  bool first = true;
  bool anew = true;
};

// How a batch is carried out. The spans are the payload's memory and stay valid as long as it lives.
struct BatchOrder {
  enum class Begin : std::uint8_t {
    goes_on,    // the sum grows on
    at_agreed,  // session::Trainer::begin_sum comes first
    ahead,      // session::Trainer::begin_sum_ahead comes first, with the last two members
  };
  std::span<float> into;  // parameter_count floats, to which the batch adds
  bool clears = false;    // `into` is set to zero first
  Begin begin = Begin::goes_on;
  std::span<const float> own_sum{};  // the contribution that is being averaged
  SampleCount own_samples = 0;
};

}  // namespace starling::rounds
