#include "client/optim/initial_state.h"

#include <algorithm>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"
#include "shared/wire/model_layout.h"

namespace starling::optim {

namespace {

// Uniform in [-1, 1): 53 random bits, exact in double precision.
double signed_unit(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(mix64(seed ^ mix64(index)) >> 11) * 0x1p-52 - 1;
}

}  // namespace

void fill_initial_state(const wire::RunManifest& manifest, std::span<float> state) {
  const std::size_t parameters = wire::parameter_count(manifest.model);
  VERIFY(state.size() == wire::state_size(manifest));
  for (const wire::ParameterInfo& info : wire::model_layout(manifest.model)) {
    for (std::size_t i = info.offset; i < info.offset + info.count; ++i) {
      state[i] = info.initial_bound > 0 ? static_cast<float>(info.initial_bound * signed_unit(manifest.seed, i))
                                        : info.initial_value;
    }
  }
  std::fill(state.begin() + static_cast<std::ptrdiff_t>(parameters), state.end(), 0.0F);
}

}  // namespace starling::optim
