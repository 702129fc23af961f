// Counts what LibTorch really computes.
#pragma once

#include <cstdint>

namespace starling::models {

// While it lives: floating-point operations of all matrix products and convolutions of this process, twice their
// multiplications. One at a time.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;

  [[nodiscard]] double flops() const;

 private:
  std::uint64_t handle_;
};

}  // namespace starling::models
