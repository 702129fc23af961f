// Matrix products in bf16, where a machine is made for it.
#pragma once

namespace starling::training {

// Whether the processor multiplies bf16 faster than floats.
bool computes_in_bf16();

// While it lives, and is on, operations of this thread that lose nothing by it compute in bf16 (LibTorch's autocast):
// parameters, gradients and sums over many values stay floats.
class Precision {
 public:
  explicit Precision(bool bf16);
  Precision(const Precision&) = delete;
  Precision& operator=(const Precision&) = delete;
  ~Precision();

 private:
  bool on_;
};

}  // namespace starling::training
