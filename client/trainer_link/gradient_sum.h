// Checks the trainer child's gradient and adds it.
#pragma once

#include <span>

#include "shared/base/result.h"

namespace starling::trainer_link {

// into[i] += gradient[i], for vectors of one size. corrupt, with `into` untouched, when a value of
// `gradient` is not finite.
Status add_gradient(std::span<const float> gradient, std::span<float> into);

}  // namespace starling::trainer_link
