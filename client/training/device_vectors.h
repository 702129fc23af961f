// The flat vectors where a model computes: the caller's own memory on the processor, copies of it on a device.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>

#include "shared/base/result.h"
#include "shared/run/buckets.h"

namespace starling::training {

// Vectors that the model has as copies: all on any device but the processor; on the processor only the parameters, in
// case they are changed while it computes.
enum class Copies { none, parameters, all };

class DeviceVectors {
 public:
  // The spans, of equal length, must outlive this and the tensors below.
  DeviceVectors(const at::Device& device, Copies copies, std::span<float> parameters, std::span<float> gradient);

  // One-dimensional tensors that the model uses.
  [[nodiscard]] const at::Tensor& parameters() const { return parameters_; }
  [[nodiscard]] const at::Tensor& gradient() const { return gradient_; }

  // Called before computing: copies the caller's parameters to the model.
  void upload();
  // Copies other parameters of that length, written by fill(); returns its error if it wrote none. For models with
  // copies only.
  Status upload_from(const std::function<Status(std::span<float>)>& fill);
  // Copies these parameters to the model.
  void upload_from(std::span<const float> parameters);
  // Copies the parameters of `other`. For models with copies only.
  void upload_from(const DeviceVectors& other);
  // clear_gradient() zeroes the model's gradient; download_gradient() copies it to the caller afterwards.
  void clear_gradient();
  void download_gradient();
  void download_gradient(const wire::Bucket& bucket);
  // Adds the model's gradient to the caller's. For models with a copy of it only.
  void add_gradient();

 private:
  Copies copies_;
  at::Tensor host_parameters_, host_gradient_;
  at::Tensor parameters_, gradient_;  // views of the host's memory, or the copies
};

}  // namespace starling::training
