#include "coordinator/server/artefact_import.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/os_error.h"
#include "shared/base/unique_fd.h"
#include "shared/crypto/digest.h"

namespace starling::server {
namespace {

constexpr std::size_t kCopyBytes = 1 << 20;
constexpr std::string_view kTemporaryPrefix = "import-";
constexpr std::string_view kTemporarySuffix = ".tmp";

Status write_all(int fd, const char* data, std::size_t size, const std::filesystem::path& file) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os_error("write", file, errno);
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return {};
}

// Copies the part from one file to the other, which is `copy`; the digest and length of what was copied.
Result<wire::Artefact> copy_part(int from, const FilePart& part, int to, const std::filesystem::path& copy) {
  const std::int64_t bytes = part.bytes;
  crypto::Sha256 digest;
  wire::Artefact artefact;
  std::vector<char> buffer(kCopyBytes);
  while (bytes < 0 || artefact.bytes < bytes) {
    const std::size_t wanted =
        bytes < 0 ? buffer.size() : std::min(buffer.size(), static_cast<std::size_t>(bytes - artefact.bytes));
    const ssize_t got = ::read(from, buffer.data(), wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error("read", part.file, errno);
    if (got == 0) break;
    digest.update(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    STARLING_TRY(write_all(to, buffer.data(), static_cast<std::size_t>(got), copy));
    artefact.bytes += got;
  }
  artefact.sha256 = digest.finish();
  return artefact;
}

// The copy before it has its name. Locked by the process that writes it, so that one left behind can be told from one
// that is growing.
std::filesystem::path temporary_in(const std::filesystem::path& folder) {
  return folder / fmt::format("{}{}{}", kTemporaryPrefix, ::getpid(), kTemporarySuffix);
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
  remove_abandoned_imports(folder);
  const std::filesystem::path temporary = temporary_in(folder);
  STARLING_ASSIGN(const FileLock ours, FileLock::acquire(temporary));
  const UniqueFd to(::open(temporary.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!to || ::fchmod(to.get(), 0644) != 0) return os_error("create", temporary, errno);
  auto artefact = copy_part(from.get(), part, to.get(), temporary);
  if (artefact && ::fsync(to.get()) != 0) artefact = os_error("write", temporary, errno);
  if (artefact && ::rename(temporary.c_str(), (folder / artefact->sha256.hex()).c_str()) != 0) {
    artefact = os_error("rename", temporary, errno);
  }
  if (!artefact) {
    ::unlink(temporary.c_str());
    return artefact;
  }
  STARLING_TRY(sync_to_disk(folder));
  return artefact;
}

void remove_abandoned_imports(const std::filesystem::path& folder) {
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kTemporaryPrefix) || !name.ends_with(kTemporarySuffix)) continue;
    const auto nobodys = FileLock::acquire(entry->path());
    if (!nobodys) continue;
    log_info("'{}' was left by an import that was cut off; it is removed", entry->path().string());
    ::unlink(entry->path().c_str());
  }
}

}  // namespace starling::server
