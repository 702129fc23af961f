// The typical one among several figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "shared/base/verify.h"

namespace starling {

// The larger of the two middle values when their number is even. Needs at least one value.
template <typename T>
T upper_median(std::vector<T> values) {
  VERIFY(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace starling
