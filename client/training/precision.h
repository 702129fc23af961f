// Matrix products in bf16, on machines that compute fast in it.
#pragma once

#include <c10/core/Device.h>

namespace starling::training {

// During its lifetime, if `bf16` is set, operations of this thread on that kind of device compute in bf16 if they lose
// nothing by it (LibTorch's autocast): parameters, gradients and sums over many values stay floats.
class Precision {
 public:
  Precision(bool bf16, const c10::Device& device);
  Precision(const Precision&) = delete;
  Precision& operator=(const Precision&) = delete;
  ~Precision();

 private:
  bool on_;
  c10::DeviceType type_;
};

}  // namespace starling::training
