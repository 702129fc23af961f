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

Status copy_part(int from, const FilePart& part, dataset::DigestFile& to) {
  std::vector<char> buffer(kCopyBytes);
  for (std::int64_t copied = 0; part.bytes < 0 || copied < part.bytes;) {
    const std::size_t wanted =
        part.bytes < 0 ? buffer.size() : std::min(buffer.size(), static_cast<std::size_t>(part.bytes - copied));
    const ssize_t got = ::read(from, buffer.data(), wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error("read", part.file, errno);
    if (got == 0) break;
    STARLING_TRY(to.write(std::string_view(buffer.data(), static_cast<std::size_t>(got))));
    copied += got;
  }
  return {};
}

}  // namespace

Result<std::int64_t> file_bytes(const std::filesystem::path& file) {
  struct stat info = {};
  if (::stat(file.c_str(), &info) != 0) return os_error("open", file, errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::invalid_argument, fmt::format("'{}' is not a file", file.string())};
  }
  return static_cast<std::int64_t>(info.st_size);
}

Result<std::vector<wire::TensorInfo>> read_tensor_file_head(const std::filesystem::path& file) {
  STARLING_ASSIGN(const std::int64_t bytes, file_bytes(file));
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return os_error("open", file, errno);
  std::vector<std::uint8_t> head(std::min(wire::kTensorHeadBytesMax, static_cast<std::size_t>(bytes)));
  std::size_t got = 0;
  while (got < head.size()) {
    const ssize_t more = ::read(fd.get(), head.data() + got, head.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return os_error("read", file, errno);
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  head.resize(got);
  auto tensors = wire::read_tensor_head(head, static_cast<std::uint64_t>(bytes));
  if (!tensors) return tensors.error().prefixed(fmt::format("'{}'", file.string()));
  return tensors;
}

Result<wire::Artefact> import_artefact(const FilePart& part, const std::filesystem::path& folder) {
  const UniqueFd from(::open(part.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from || ::lseek(from.get(), part.offset, SEEK_SET) < 0) return os_error("open", part.file, errno);
  STARLING_ASSIGN(dataset::DigestFile copy, dataset::DigestFile::create(folder));
  STARLING_TRY(copy_part(from.get(), part, copy));
  return copy.finish();
}

}  // namespace starling::server
