// Buffers of one size for data on its way through a network's links. A link takes one only while there is data in it,
// so links that work one after the other use the very memory that the processor still has in its cache. Net thread
// only; outlives its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace starling::transport {

class BufferPool {
 public:
  struct GiveBack {
    BufferPool* pool = nullptr;
    void operator()(std::uint8_t* buffer) const { pool->free_.emplace_back(buffer); }
  };
  using Buffer = std::unique_ptr<std::uint8_t[], GiveBack>;

  explicit BufferPool(std::size_t bytes) : bytes_(bytes) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // Size of each buffer.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // The buffer that was given back last, or a new one.
  Buffer take();
  // Frees the buffers that nobody has.
  void trim();
  // Number of buffers not given back yet.
  [[nodiscard]] std::size_t taken() const { return made_ - free_.size(); }

 private:
  const std::size_t bytes_;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<std::uint8_t[]>> free_;
};

}  // namespace starling::transport
