#include "client/optim/initial_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"
#include "shared/wire/model_layout.h"
#include "shared/wire/safetensors.h"

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

Status load_initial_state(const wire::RunManifest& manifest, std::span<const std::uint8_t> file,
                          std::span<float> state) {
  fill_initial_state(manifest, state);
  STARLING_ASSIGN(const auto tensors, wire::read_tensor_head(file, file.size()));
  for (const wire::ParameterInfo& info : wire::model_layout(manifest.model)) {
    const wire::TensorInfo* tensor = wire::find_tensor(tensors, info.name);
    const bool fits = tensor != nullptr && tensor->type == wire::TensorType::f32 && tensor->shape == info.shape;
    const std::span<float> values = state.subspan(info.offset, info.count);
    if (fits) std::memcpy(values.data(), file.data() + tensor->begin, values.size_bytes());
    if (!fits || !std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) {
      return Error{ErrorCode::corrupt, "read the model's parameters: '" + info.name +
                                           "' is not there with the manifest's shape, or has values that are not "
                                           "finite"};
    }
  }
  return {};
}

}  // namespace starling::optim
