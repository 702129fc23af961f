#include "client/trainer_link/shared_region.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace starling::trainer_link {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kMagic = 0x31474e4c52415453;  // "STARLNG1"
constexpr std::size_t kParametersMax = std::size_t{1} << 36;
constexpr int kOptimizerVectorsMax = 8;
constexpr int kSeals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

// First page of the region.
struct RegionHeader {
  std::uint64_t magic = kMagic;
  std::uint64_t parameter_count = 0;
  std::uint64_t optimizer_vectors = 0;
  std::uint64_t local_floats = 0;
  friend bool operator==(const RegionHeader&, const RegionHeader&) = default;
};

struct Offsets {
  std::size_t state = kPage;
  std::size_t gradient = 0;
  std::size_t journal = 0;
  std::size_t local = 0;
  std::size_t end = 0;
};

std::size_t page_aligned(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

Offsets offsets_of(const session::StateLayout& layout, std::size_t local_floats) {
  Offsets at;
  at.gradient = at.state + page_aligned(layout.size() * sizeof(float));
  at.journal = at.gradient + page_aligned(layout.parameter_count * sizeof(float));
  at.local = at.journal + page_aligned(sizeof(optim::StepJournal));
  at.end = at.local + page_aligned(local_floats * sizeof(float));
  return at;
}

Status check(const session::StateLayout& layout, std::size_t local_floats) {
  if (layout.parameter_count > kParametersMax || layout.optimizer_vectors < 0 ||
      layout.optimizer_vectors > kOptimizerVectorsMax ||
      local_floats > (1 + kOptimizerVectorsMax) * layout.parameter_count) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("share memory for {} parameters with {} optimizer vectors: out of range",
                             layout.parameter_count, layout.optimizer_vectors)};
  }
  return {};
}

Error no_memory(std::size_t bytes, int error_number) {
  return {ErrorCode::resource_exhausted,
          fmt::format("reserve {:.1f} MB of memory for the model, its optimizer and gradient: {}",
                      static_cast<double>(bytes) / 1e6, std::strerror(error_number))};
}

RegionHeader header_of(const session::StateLayout& layout, std::size_t local_floats) {
  return {kMagic, layout.parameter_count, static_cast<std::uint64_t>(layout.optimizer_vectors), local_floats};
}

}  // namespace

Result<SharedRegion> SharedRegion::create(const session::StateLayout& layout, std::size_t local_floats) {
  STARLING_TRY(check(layout, local_floats));
  const std::size_t bytes = offsets_of(layout, local_floats).end;
  UniqueFd fd(::memfd_create("starling-state", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return no_memory(bytes, errno);
  // Allocates memory now: running out is an error here, but a fatal signal at a first touch later.
  if (::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes)) != 0) return no_memory(bytes, ENOMEM);
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return no_memory(bytes, errno);
  const int raw = fd.get();
  STARLING_ASSIGN(SharedRegion region, map(raw, std::move(fd), layout, local_floats));
  const RegionHeader header = header_of(layout, local_floats);
  std::memcpy(region.base_, &header, sizeof header);
  return region;
}

Result<SharedRegion> SharedRegion::attach(int fd, const session::StateLayout& layout, std::size_t local_floats) {
  STARLING_TRY(check(layout, local_floats));
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size != static_cast<off_t>(offsets_of(layout, local_floats).end)) {
    return Error{ErrorCode::corrupt, "attach shared memory: its size does not fit the run's model"};
  }
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return Error{ErrorCode::corrupt, "attach shared memory: its size is not sealed"};
  }
  STARLING_ASSIGN(SharedRegion region, map(fd, UniqueFd(), layout, local_floats));
  RegionHeader header;
  std::memcpy(&header, region.base_, sizeof header);
  if (header != header_of(layout, local_floats)) {
    return Error{ErrorCode::corrupt, "attach shared memory: it was laid out for another model"};
  }
  return region;
}

Result<SharedRegion> SharedRegion::map(int fd, UniqueFd owned, const session::StateLayout& layout,
                                       std::size_t local_floats) {
  const std::size_t bytes = offsets_of(layout, local_floats).end;
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return no_memory(bytes, errno);
  ::madvise(base, bytes, MADV_DONTDUMP);
  return SharedRegion(std::move(owned), static_cast<std::byte*>(base), layout, local_floats);
}

SharedRegion::SharedRegion(UniqueFd fd, std::byte* base, const session::StateLayout& layout, std::size_t local_floats)
    : fd_(std::move(fd)), base_(base), layout_(layout), local_floats_(local_floats) {}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : fd_(std::move(other.fd_)),
      base_(std::exchange(other.base_, nullptr)),
      layout_(other.layout_),
      local_floats_(other.local_floats_) {}

SharedRegion::~SharedRegion() {
  if (base_ != nullptr) ::munmap(base_, offsets_of(layout_, local_floats_).end);
}

std::span<float> SharedRegion::state() const {
  return {reinterpret_cast<float*>(base_ + offsets_of(layout_, local_floats_).state), layout_.size()};
}

std::span<float> SharedRegion::gradient() const {
  return {reinterpret_cast<float*>(base_ + offsets_of(layout_, local_floats_).gradient), layout_.parameter_count};
}

optim::StepJournal& SharedRegion::journal() const {
  return *reinterpret_cast<optim::StepJournal*>(base_ + offsets_of(layout_, local_floats_).journal);
}

std::span<float> SharedRegion::local() const {
  return {reinterpret_cast<float*>(base_ + offsets_of(layout_, local_floats_).local), local_floats_};
}

}  // namespace starling::trainer_link
