#include "client/models/parameters.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "shared/base/verify.h"
#include "shared/run/model_layout.h"

namespace starling::models {

namespace {

// Saves the input and each row's factor for the backward pass, and nothing else.
struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            double epsilon) {
    const at::Tensor factor = at::rsqrt(x.square().mean(-1, true) + epsilon);
    context->save_for_backward({x, weight, factor});
    return x * factor * weight;
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& upstream) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &factor = saved[2];
    const at::Tensor normalised = x * factor;
    const at::Tensor by_normalised = upstream[0] * weight;
    const at::Tensor along = (by_normalised * normalised).mean(-1, true);
    return {(by_normalised - normalised * along) * factor, (upstream[0] * normalised).sum(0), at::Tensor()};
  }
};

}  // namespace

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

at::Tensor Parameters::product(const at::Tensor& x, const std::string& name) const {
  return at::mm(x, tensors_.at(name + ".weight").t());
}

at::Tensor Parameters::linear(const at::Tensor& x, const std::string& name) const {
  return at::addmm(tensors_.at(name + ".bias"), x, tensors_.at(name + ".weight").t());
}

at::Tensor Parameters::gated_perceptron(const at::Tensor& x, const std::string& name) const {
  const at::Tensor in = product(x, name + "mlp_in");
  const std::int64_t hidden = in.size(1) / 2;
  return product(at::silu(in.narrow(1, 0, hidden)) * in.narrow(1, hidden, hidden), name + "mlp_out");
}

at::Tensor Parameters::norm(const at::Tensor& x, const std::string& name, double epsilon) const {
  const at::Tensor& weight = tensors_.at(name + ".weight");
  return at::layer_norm(x, weight.sizes(), weight, tensors_.at(name + ".bias"), epsilon);
}

at::Tensor Parameters::rms_norm(const at::Tensor& x, const std::string& name, double epsilon) const {
  return RmsNorm::apply(x, tensors_.at(name + ".weight"), epsilon);
}

}  // namespace starling::models
