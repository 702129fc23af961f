#include "client/training/device_vectors.h"

#include <ATen/ATen.h>

namespace starling::training {

namespace {

at::Tensor view_of(std::span<float> values) {
  return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::TensorOptions(at::kFloat));
}

}  // namespace

DeviceVectors::DeviceVectors(const at::Device& device, bool copied, std::span<float> parameters,
                             std::span<float> gradient)
    : copied_(copied),
      host_parameters_(view_of(parameters)),
      host_gradient_(view_of(gradient)),
      parameters_(copied_ ? at::zeros_like(host_parameters_, at::TensorOptions(device)) : host_parameters_),
      gradient_(copied_ ? at::zeros_like(host_gradient_, at::TensorOptions(device)) : host_gradient_) {}

void DeviceVectors::upload() {
  if (copied_) parameters_.copy_(host_parameters_);
}

void DeviceVectors::clear_gradient() { gradient_.zero_(); }

void DeviceVectors::download_gradient() {
  if (copied_) host_gradient_.copy_(gradient_);
}

}  // namespace starling::training
