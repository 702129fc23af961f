// Values from the normal distribution, equal on every machine with one mathematics library.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "shared/swarm/random_stream.h"

namespace starling::sim {

inline std::vector<double> normal_values(std::size_t count, swarm::RandomStream& random) {
  std::vector<double> values;
  values.reserve(count + 1);
  while (values.size() < count) {  // Box and Muller, 1958: two at a time
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    values.push_back(radius * std::cos(angle));
    values.push_back(radius * std::sin(angle));
  }
  values.resize(count);
  return values;
}

}  // namespace starling::sim
