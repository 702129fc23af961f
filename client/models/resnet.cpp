#include "client/models/resnet.h"

#include <ATen/ATen.h>

namespace starling::models {

namespace {

constexpr std::int64_t kGroups = 32;

bool is(const wire::Convolution& convolution, std::string_view part) { return convolution.name.ends_with(part); }

}  // namespace

Resnet::Resnet(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient)
    : model_(model), convolutions_(wire::resnet_convolutions(model)), parameters_(model, parameters, gradient) {}

at::Tensor Resnet::convolve(const at::Tensor& x, const wire::Convolution& convolution) const {
  const at::Tensor weight = parameters_[convolution.name + ".weight"].view(
      {convolution.out, convolution.in, convolution.kernel, convolution.kernel});
  const at::Tensor y = at::conv2d(x, weight, /*bias=*/{}, convolution.stride, convolution.kernel / 2);
  const std::string norm = convolution.name + "_norm";
  return at::group_norm(y, kGroups, parameters_[norm + ".weight"], parameters_[norm + ".bias"]);
}

at::Tensor Resnet::blocks(at::Tensor x, std::size_t next) const {
  while (next < convolutions_.size()) {
    at::Tensor inner = x;
    for (; !is(convolutions_[next], ".last"); ++next) inner = at::relu(convolve(inner, convolutions_[next]));
    inner = convolve(inner, convolutions_[next++]);
    const bool reshaped = next < convolutions_.size() && is(convolutions_[next], ".shortcut");
    x = at::relu(inner + (reshaped ? convolve(x, convolutions_[next]) : x));
    if (reshaped) ++next;
  }
  return x;
}

at::Tensor Resnet::scores(const Batch& batch) const {
  const at::Tensor images = batch.at(0).reshape({-1, model_.channels, model_.image_size, model_.image_size});
  at::Tensor x = at::relu(convolve(images, convolutions_.front()));
  if (convolutions_.front().stride > 1) x = at::max_pool2d(x, 3, 2, 1);
  x = blocks(x, 1).mean({2, 3});
  return parameters_.linear(x, "classes");
}

at::Tensor Resnet::loss(const Batch& batch) const { return class_loss(scores(batch), batch.at(1)); }

Judged Resnet::judge(const Batch& batch) const {
  const at::Tensor judged = scores(batch);
  return {class_loss(judged, batch.at(1)), hits_of(judged, batch.at(1))};
}

}  // namespace starling::models
