// Adds a micro-batch's gradient to the round's.
#pragma once

#include <span>

namespace starling::training {

// into += gradient if all its values are finite; otherwise false, with `into` untouched.
bool add_if_finite(std::span<const float> gradient, std::span<float> into);

}  // namespace starling::training
