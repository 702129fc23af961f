// Floats that the daemon shares with its trainer. They belong to the daemon and outlive every child; their size is
// sealed, so neither end can take pages away from the other.
#pragma once

#include <cstddef>
#include <span>

#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

namespace starling::trainer_link {

class SharedFloats {
 public:
  SharedFloats() = default;
  // Makes new ones, all zero. `what` completes "reserve 1.5 MB of memory for …". resource_exhausted when the machine
  // lacks that much memory.
  static Result<SharedFloats> create(std::size_t count, const char* what);
  // Maps floats that another process made. corrupt unless their size is sealed and a whole number of floats.
  static Result<SharedFloats> attach(int fd);

  SharedFloats(SharedFloats&& other) noexcept;
  SharedFloats& operator=(SharedFloats&& other) noexcept;
  ~SharedFloats();

  [[nodiscard]] std::span<float> all() const { return floats_; }
  // Descriptor for the child. Invalid in floats that were attached.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  SharedFloats(UniqueFd fd, std::span<float> floats);

  UniqueFd fd_;
  std::span<float> floats_;
};

}  // namespace starling::trainer_link
