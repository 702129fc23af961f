// Whether floats are numbers: neither NaN nor infinite.
#pragma once

#include <span>

namespace starling {

// Fast: a few floats in each cycle.
bool all_finite(std::span<const float> values);

}  // namespace starling
