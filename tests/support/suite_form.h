// How much a test repeats: little in the short suite, more in the long one.
#pragma once

#include <cstdlib>

namespace starling::testing {

// `./dev test --long` sets STARLING_LONG.
inline bool is_long_suite() { return std::getenv("STARLING_LONG") != nullptr; }

// Returns the count for the suite that runs.
template <typename Count>
Count times(Count in_short, Count in_long) {
  return is_long_suite() ? in_long : in_short;
}

}  // namespace starling::testing
