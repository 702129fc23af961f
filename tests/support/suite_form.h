// How much a test repeats: little in the short suite, more in the long one.
#pragma once

#include <cstdlib>

namespace starling::testing {

// Returns the count for the suite that runs; `./dev test --long` sets STARLING_LONG.
template <typename Count>
Count times(Count in_short, Count in_long) {
  return std::getenv("STARLING_LONG") != nullptr ? in_long : in_short;
}

}  // namespace starling::testing
