// Counts the memory that LibTorch allocates.
#pragma once

#include <cstdint>
#include <memory>

namespace starling::models {

// Counts, during its lifetime, tensor memory on the processor that was allocated by this thread or by a backward pass
// that it began.
class MemoryWatch {
 public:
  MemoryWatch();
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  // The largest number of bytes held at one time.
  [[nodiscard]] std::int64_t most() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::models
