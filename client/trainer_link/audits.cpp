#include "client/trainer_link/audits.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "client/trainer_link/messages.h"

namespace starling::trainer_link {
namespace {

constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
constexpr std::size_t kSketchBytes = wire::kSketchFloats * sizeof(double);

// A part as it travels, without padding.
struct PackedPart {
  std::int64_t first = 0;
  std::int64_t floats = 0;
  Hash128 seed;
};
static_assert(sizeof(PackedPart) == 32 && wire::kAuditPartsMax * sizeof(PackedPart) <= kTextBytesMax);
static_assert(wire::kAuditPartsMax * kSketchBytes <= kTextBytesMax);

Error no_memory(std::size_t bytes, int error_number) {
  return {ErrorCode::resource_exhausted, fmt::format("reserve {:.1f} MB of memory for the parameters of an audit: {}",
                                                     static_cast<double>(bytes) / 1e6, std::strerror(error_number))};
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::pwrite(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

Status check_parts(std::span<const wire::SketchedPart> parts, std::size_t floats) {
  if (parts.empty() || parts.size() > wire::kAuditPartsMax) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("audit {} parts: 1 to {} are possible", parts.size(), wire::kAuditPartsMax)};
  }
  const auto length = static_cast<std::int64_t>(floats);
  for (const wire::SketchedPart& part : parts) {
    if (part.first < 0 || part.floats < 0 || part.first > length || part.floats > length - part.first) {
      return Error{ErrorCode::invalid_argument,
                   fmt::format("audit {} floats from the {}th on: the model has {}", part.floats, part.first, floats)};
    }
  }
  return {};
}

std::string pack_parts(std::span<const wire::SketchedPart> parts) {
  std::string packed;
  for (const wire::SketchedPart& part : parts) {
    const PackedPart one{part.first, part.floats, part.seed};
    packed.append(reinterpret_cast<const char*>(&one), sizeof one);
  }
  return packed;
}

Result<std::vector<wire::SketchedPart>> unpack_parts(std::string_view packed) {
  if (packed.size() % sizeof(PackedPart) != 0) return Error{ErrorCode::corrupt, "the last part is not whole"};
  if (packed.size() / sizeof(PackedPart) > wire::kAuditPartsMax) {
    return Error{ErrorCode::corrupt, "these are more parts than an audit has"};
  }
  std::vector<wire::SketchedPart> parts;
  for (std::size_t at = 0; at < packed.size(); at += sizeof(PackedPart)) {
    PackedPart one;
    std::memcpy(&one, packed.data() + at, sizeof one);
    parts.push_back({one.first, one.floats, one.seed});
  }
  return parts;
}

std::string pack_sketches(std::span<const double> sketches) {
  return {reinterpret_cast<const char*>(sketches.data()), sketches.size_bytes()};
}

Result<std::vector<double>> unpack_sketches(std::string_view packed, std::size_t parts) {
  if (packed.size() != parts * kSketchBytes) return Error{ErrorCode::corrupt, "these are not the sketches asked for"};
  std::vector<double> sketches(parts * wire::kSketchFloats);
  if (!sketches.empty()) std::memcpy(sketches.data(), packed.data(), packed.size());
  if (!std::all_of(sketches.begin(), sketches.end(), [](double number) { return std::isfinite(number); })) {
    return Error{ErrorCode::corrupt, "a sketch is not of finite numbers"};
  }
  return sketches;
}

Status AuditedParameters::hold(std::span<const float> parameters) {
  const std::span<const std::byte> wanted = std::as_bytes(parameters);
  if (bytes_.size() == wanted.size() && std::memcmp(bytes_.data(), wanted.data(), wanted.size()) == 0) return {};
  release();
  UniqueFd fd(::memfd_create("starling-audit", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return no_memory(wanted.size(), errno);
  if (::posix_fallocate(fd.get(), 0, static_cast<off_t>(wanted.size())) != 0) return no_memory(wanted.size(), ENOMEM);
  if (!write_all(fd.get(), wanted) || ::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return no_memory(wanted.size(), errno);
  }
  void* base = ::mmap(nullptr, wanted.size(), PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (base == MAP_FAILED) return no_memory(wanted.size(), errno);
  bytes_ = {static_cast<const std::byte*>(base), wanted.size()};
  fd_ = std::move(fd);
  return {};
}

void AuditedParameters::release() {
  if (held()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  bytes_ = {};
  fd_.reset();
  child_ = 0;
}

}  // namespace starling::trainer_link
