// Checks the trainer child's gradient and adds it.
#pragma once

#include <span>

#include "shared/base/result.h"

namespace starling::trainer_link {

// Whether no value is NaN or infinite.
bool all_finite(std::span<const float> values);

// into[i] += gradient[i], for vectors of one size. corrupt, with `into` untouched, when a value of
// `gradient` is not finite.
Status add_gradient(std::span<const float> gradient, std::span<float> into);

}  // namespace starling::trainer_link
