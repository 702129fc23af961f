#include "client/trainer_link/gradient_sum.h"

#include <fmt/core.h>

#include <algorithm>

#include "shared/base/finite.h"
#include "shared/base/verify.h"

namespace starling::trainer_link {
Status add_gradient(std::span<const float> gradient, std::span<float> into) {
  VERIFY(gradient.size() == into.size());
  if (!all_finite(gradient)) {
    const auto bad = std::find_if(gradient.begin(), gradient.end(), [](const float& value) {
      return !all_finite({&value, 1});
    });
    return Error{ErrorCode::corrupt, fmt::format("gradient value {} of {} is not a finite number",
                                                 bad - gradient.begin(), gradient.size())};
  }
  const float* from = gradient.data();
  float* to = into.data();
  const std::size_t count = into.size();
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
  return {};
}

}  // namespace starling::trainer_link
