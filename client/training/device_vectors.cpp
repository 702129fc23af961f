#include "client/training/device_vectors.h"

#include <ATen/ATen.h>

#include <vector>

#include "shared/base/verify.h"

namespace starling::training {

namespace {

at::Tensor view_of(std::span<float> values) {
  return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::TensorOptions(at::kFloat));
}

}  // namespace

DeviceVectors::DeviceVectors(const at::Device& device, Copies copies, std::span<float> parameters,
                             std::span<float> gradient)
    : copies_(copies),
      host_parameters_(view_of(parameters)),
      host_gradient_(view_of(gradient)),
      parameters_(copies_ != Copies::none ? at::zeros_like(host_parameters_, at::TensorOptions(device))
                                          : host_parameters_),
      gradient_(copies_ == Copies::all ? at::zeros_like(host_gradient_, at::TensorOptions(device)) : host_gradient_) {}

void DeviceVectors::upload() {
  if (copies_ != Copies::none) parameters_.copy_(host_parameters_);
}

Status DeviceVectors::upload_from(const std::function<Status(std::span<float>)>& fill) {
  VERIFY(copies_ != Copies::none);
  const auto count = static_cast<std::size_t>(parameters_.numel());
  if (parameters_.device().is_cpu()) return fill({parameters_.data_ptr<float>(), count});
  std::vector<float> parameters(count);
  STARLING_TRY(fill(parameters));
  parameters_.copy_(view_of(parameters));
  return {};
}

void DeviceVectors::upload_from(std::span<const float> parameters) {
  VERIFY(copies_ != Copies::none);
  parameters_.copy_(view_of({const_cast<float*>(parameters.data()), parameters.size()}));
}

void DeviceVectors::upload_from(const DeviceVectors& other) {
  VERIFY(copies_ != Copies::none);
  parameters_.copy_(other.parameters_);
}

void DeviceVectors::clear_gradient() { gradient_.zero_(); }

void DeviceVectors::download_gradient() {
  if (copies_ == Copies::all) host_gradient_.copy_(gradient_);
}

void DeviceVectors::add_gradient() {
  VERIFY(copies_ == Copies::all);
  host_gradient_.add_(gradient_.to(at::kCPU));
}

void DeviceVectors::download_gradient(const wire::Bucket& bucket) {
  if (copies_ != Copies::all) return;
  const auto begin = static_cast<std::int64_t>(bucket.begin);
  const auto count = static_cast<std::int64_t>(bucket.count);
  host_gradient_.narrow(0, begin, count).copy_(gradient_.narrow(0, begin, count));
}

}  // namespace starling::training
