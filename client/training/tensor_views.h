// Memory of others as tensors, and back.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

namespace starling::training {

// One-dimensional, of the caller's memory.
inline at::Tensor vector_view(std::span<float> floats) {
  return at::from_blob(floats.data(), {static_cast<std::int64_t>(floats.size())}, at::kFloat);
}

// [rows, width], of the caller's memory, which is only read.
inline at::Tensor rows_view(std::span<const float> floats, std::int64_t width) {
  const auto rows = static_cast<std::int64_t>(floats.size()) / width;
  return at::from_blob(const_cast<float*>(floats.data()), {rows, width}, at::kFloat);
}

// Copies the tensor's values, of any float type, to `into`, which has as many.
inline void copy_to(const at::Tensor& values, std::span<float> into) {
  vector_view(into).view(values.sizes()).copy_(values);
}

}  // namespace starling::training
