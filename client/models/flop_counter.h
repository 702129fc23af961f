// Counts the operations that LibTorch performs.
#pragma once

#include <cstdint>

namespace starling::models {

// Counts, during its lifetime, floating-point operations of all matrix products and convolutions of this process: twice
// their multiplications. One instance at a time.
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
