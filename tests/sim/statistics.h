// Of the few runs that a figure stands on.
#pragma once

#include <cmath>
#include <vector>

namespace starling::sim {

// Of at least one value.
inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The standard deviation that a sample lets expect of the whole; 0 of one value.
inline double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace starling::sim
