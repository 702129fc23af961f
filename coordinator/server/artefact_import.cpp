#include "coordinator/server/artefact_import.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "coordinator/dataset/digest_file.h"
#include "shared/base/os_error.h"
#include "shared/base/unique_fd.h"

namespace starling::server {
namespace {

constexpr std::size_t kCopyBytes = 1 << 20;

}  // namespace

Result<std::int64_t> file_bytes(const std::filesystem::path& file) {
  struct stat info = {};
  if (::stat(file.c_str(), &info) != 0) return os_error("open", file, errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::invalid_argument, fmt::format("'{}' is not a file", file.string())};
  }
  return static_cast<std::int64_t>(info.st_size);
}

Result<std::vector<std::uint8_t>> read_file_head(const std::filesystem::path& file, std::size_t bytes_max) {
  STARLING_ASSIGN(const std::int64_t bytes, file_bytes(file));
  std::vector<std::uint8_t> head;
  const FilePart part{.file = file, .bytes = std::min(bytes, static_cast<std::int64_t>(bytes_max))};
  STARLING_TRY(read_part(part, [&head](std::span<const std::uint8_t> more) -> Status {
    head.insert(head.end(), more.begin(), more.end());
    return {};
  }));
  return head;
}

Result<std::vector<wire::TensorInfo>> read_tensor_file_head(const std::filesystem::path& file) {
  STARLING_ASSIGN(const std::int64_t bytes, file_bytes(file));
  STARLING_ASSIGN(const auto head, read_file_head(file, wire::kTensorHeadBytesMax));
  auto tensors = wire::read_tensor_head(head, static_cast<std::uint64_t>(bytes));
  if (!tensors) return tensors.error().prefixed(fmt::format("'{}'", file.string()));
  return tensors;
}

Status read_part(const FilePart& part, const LookAt& look) {
  const UniqueFd from(::open(part.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from || ::lseek(from.get(), part.offset, SEEK_SET) < 0) return os_error("open", part.file, errno);
  std::vector<std::uint8_t> buffer(kCopyBytes);
  for (std::int64_t done = 0; part.bytes < 0 || done < part.bytes;) {
    const std::size_t wanted =
        part.bytes < 0 ? buffer.size() : std::min(buffer.size(), static_cast<std::size_t>(part.bytes - done));
    const ssize_t got = ::read(from.get(), buffer.data(), wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error("read", part.file, errno);
    if (got == 0) break;
    STARLING_TRY(look(std::span(buffer).first(static_cast<std::size_t>(got))));
    done += got;
  }
  return {};
}

Result<wire::Artefact> import_artefact(const FilePart& part, const std::filesystem::path& folder, const LookAt& look) {
  STARLING_ASSIGN(dataset::DigestFile copy, dataset::DigestFile::create(folder));
  STARLING_TRY(read_part(part, [&](std::span<const std::uint8_t> bytes) -> Status {
    if (look) STARLING_TRY(look(bytes));
    return copy.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }));
  return copy.finish();
}

}  // namespace starling::server
