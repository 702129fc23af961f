// Counts what LibTorch really allocates.
#pragma once

#include <cstdint>
#include <memory>

namespace starling::models {

// While it lives: memory of tensors on the processor that this thread, or a way back that it began, has allocated
// since.
class MemoryWatch {
 public:
  MemoryWatch();
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  // Bytes that were not freed again, when they were most.
  [[nodiscard]] std::int64_t most() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::models
