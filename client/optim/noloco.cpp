#include "client/optim/noloco.h"

#include <cstddef>

#include "shared/base/verify.h"

namespace starling::optim {

void noloco_step(const NoLoCoOptions& options, std::span<const float> mean_displacement,
                 std::span<const float> mean_agreed, std::span<float> agreed, std::span<float> momentum) {
  VERIFY(mean_displacement.size() == agreed.size() && mean_agreed.size() == agreed.size());
  VERIFY(momentum.size() == agreed.size());
  for (std::size_t i = 0; i < agreed.size(); ++i) {
    momentum[i] = options.momentum * momentum[i] - options.rate * mean_displacement[i] +
                  options.pull * (mean_agreed[i] - agreed[i]);
    agreed[i] += momentum[i];
  }
}

}  // namespace starling::optim
