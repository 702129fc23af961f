// The flat vectors where a model computes: the caller's own memory on the processor, copies of it on a device.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>

#include "shared/base/result.h"
#include "shared/wire/buckets.h"

namespace starling::training {

// What of them is the model's own: all that any device but the processor computes with; of the processor's the
// parameters, where they are changed while it computes.
enum class Copies { none, parameters, all };

class DeviceVectors {
 public:
  // The spans, of equal length, must outlive this and the tensors below.
  DeviceVectors(const at::Device& device, Copies copies, std::span<float> parameters, std::span<float> gradient);

  // What the model is made of, one-dimensional.
  [[nodiscard]] const at::Tensor& parameters() const { return parameters_; }
  [[nodiscard]] const at::Tensor& gradient() const { return gradient_; }

  // Before computing: the model sees what the caller wrote into its parameters.
  void upload();
  // The same of others, as many, which fill() writes, or says why it has written none; where the model has copies.
  Status upload_from(const std::function<Status(std::span<float>)>& fill);
  // The same of those that another has, as many; where the model has copies.
  void upload_from(const DeviceVectors& other);
  // A gradient of zeros to add to, and its way back to the caller once that is done.
  void clear_gradient();
  void download_gradient();
  void download_gradient(const wire::Bucket& bucket);
  // It is added to what the caller has; where the model has a copy of it.
  void add_gradient();

 private:
  Copies copies_;
  at::Tensor host_parameters_, host_gradient_;
  at::Tensor parameters_, gradient_;  // the same as the host's, or the copies
};

}  // namespace starling::training
