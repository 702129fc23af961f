// Whether floats are numbers, neither NaN nor infinite, and how large they are.
#pragma once

#include <span>

namespace starling {

// Fast: a few floats in each cycle.
bool all_finite(std::span<const float> values);
// Likewise, and none of larger magnitude than `most`, which is finite and not negative.
bool all_within(std::span<const float> values, float most);

}  // namespace starling
