#include "client/models/parameters.h"

#include <ATen/ATen.h>

#include "shared/base/verify.h"
#include "shared/run/model_layout.h"

namespace starling::models {

Parameters::Parameters(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient) {
  VERIFY(static_cast<std::size_t>(parameters.numel()) == wire::parameter_count(model));
  VERIFY(gradient.numel() == parameters.numel());
  for (const wire::ParameterInfo& info : wire::model_layout(model)) {
    const auto offset = static_cast<std::int64_t>(info.offset);
    const auto count = static_cast<std::int64_t>(info.count);
    at::Tensor view = parameters.narrow(0, offset, count).view(info.shape).detach();
    view.requires_grad_(true);
    view.mutable_grad() = gradient.narrow(0, offset, count).view(info.shape);
    tensors_.emplace(info.name, view);
  }
}

at::Tensor Parameters::linear(const at::Tensor& x, const std::string& name) const {
  return at::addmm(tensors_.at(name + ".bias"), x, tensors_.at(name + ".weight").t());
}

at::Tensor Parameters::norm(const at::Tensor& x, const std::string& name, double epsilon) const {
  const at::Tensor& weight = tensors_.at(name + ".weight");
  return at::layer_norm(x, weight.sizes(), weight, tensors_.at(name + ".bias"), epsilon);
}

}  // namespace starling::models
