#include "client/trainer_link/shared_floats.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/base/machine_limits.h"

namespace starling::trainer_link {
namespace {

constexpr int kSeals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

Error no_memory(std::size_t bytes, const char* what, int error_number) {
  return {ErrorCode::resource_exhausted,
          fmt::format("reserve {:.1f} MB of memory for {}: {}", static_cast<double>(bytes) / 1e6, what,
                      std::strerror(error_number))};
}

// Null if there is no room for the mapping.
float* map(int fd, std::size_t bytes) {
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return nullptr;
  ::madvise(base, bytes, MADV_DONTDUMP);
  return static_cast<float*>(base);
}

}  // namespace

Result<SharedFloats> SharedFloats::create(std::size_t count, const char* what) {
  if (count == 0) return Error{ErrorCode::invalid_argument, fmt::format("reserve memory for {}: none is needed", what)};
  // A system that promises more memory than it has kills programs when they come for it.
  if (count > static_cast<std::uint64_t>(memory_allowed_bytes()) / sizeof(float)) {
    return Error{ErrorCode::resource_exhausted,
                 fmt::format("reserve {} floats for {}: this computer has not as much memory", count, what)};
  }
  const std::size_t bytes = count * sizeof(float);
  UniqueFd fd(::memfd_create("starling-floats", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return no_memory(bytes, what, errno);
  // Allocates memory now: running out is an error here, but a fatal signal at a first touch later.
  if (::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes)) != 0) return no_memory(bytes, what, ENOMEM);
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return no_memory(bytes, what, errno);
  float* const floats = map(fd.get(), bytes);
  if (floats == nullptr) return no_memory(bytes, what, errno);
  return SharedFloats(std::move(fd), {floats, count});
}

Result<SharedFloats> SharedFloats::attach(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size <= 0 || info.st_size % static_cast<off_t>(sizeof(float)) != 0) {
    return Error{ErrorCode::corrupt, "attach shared floats: they are not a whole number"};
  }
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return Error{ErrorCode::corrupt, "attach shared floats: their size is not sealed"};
  }
  const auto bytes = static_cast<std::size_t>(info.st_size);
  float* const floats = map(fd, bytes);
  if (floats == nullptr) return no_memory(bytes, "shared floats", errno);
  return SharedFloats(UniqueFd(), {floats, bytes / sizeof(float)});
}

SharedFloats::SharedFloats(UniqueFd fd, std::span<float> floats) : fd_(std::move(fd)), floats_(floats) {}

SharedFloats::SharedFloats(SharedFloats&& other) noexcept
    : fd_(std::move(other.fd_)), floats_(std::exchange(other.floats_, {})) {}

SharedFloats& SharedFloats::operator=(SharedFloats&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(floats_, other.floats_);
  return *this;
}

SharedFloats::~SharedFloats() {
  if (!floats_.empty()) ::munmap(floats_.data(), floats_.size_bytes());
}

}  // namespace starling::trainer_link
