// Statistics of the few runs behind a figure.
#pragma once

#include <cmath>
#include <vector>

namespace starling::sim {

// Returns the mean of at least one value.
inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Returns the standard deviation of the whole, estimated from a sample; 0 for one value.
inline double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace starling::sim
