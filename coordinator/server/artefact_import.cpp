#include "coordinator/server/artefact_import.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "shared/base/unique_fd.h"
#include "shared/crypto/digest.h"

namespace starling::server {
namespace {

constexpr std::size_t kCopyBytes = 1 << 20;

Error system_error(std::string_view what, const std::filesystem::path& file) {
  const int problem = errno;
  const ErrorCode code = problem == ENOENT   ? ErrorCode::not_found
                         : problem == ENOSPC ? ErrorCode::resource_exhausted
                         : problem == EACCES ? ErrorCode::permission_denied
                                             : ErrorCode::io;
  std::string reason = std::generic_category().message(problem);
  reason.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(reason.front())));
  return {code, fmt::format("{} '{}': {}", what, file.string(), reason)};
}

Status write_all(int fd, const char* data, std::size_t size, const std::filesystem::path& file) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write", file);
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return {};
}

// Copies `bytes` (-1: all that follow) from one file to the other; the digest and length of what was copied.
Result<wire::Artefact> copy(int from, int to, std::int64_t bytes, const FilePart& part) {
  crypto::Sha256 digest;
  wire::Artefact artefact;
  std::vector<char> buffer(kCopyBytes);
  while (bytes < 0 || artefact.bytes < bytes) {
    const std::size_t wanted =
        bytes < 0 ? buffer.size() : std::min(buffer.size(), static_cast<std::size_t>(bytes - artefact.bytes));
    const ssize_t got = ::read(from, buffer.data(), wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", part.file);
    if (got == 0) break;
    digest.update(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    STARLING_TRY(write_all(to, buffer.data(), static_cast<std::size_t>(got), part.file));
    artefact.bytes += got;
  }
  artefact.sha256 = digest.finish();
  return artefact;
}

void sync_folder(const std::filesystem::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

}  // namespace

Result<std::int64_t> file_bytes(const std::filesystem::path& file) {
  struct stat info = {};
  if (::stat(file.c_str(), &info) != 0) return system_error("open", file);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::invalid_argument, fmt::format("'{}' is not a file", file.string())};
  }
  return static_cast<std::int64_t>(info.st_size);
}

Result<wire::Artefact> import_artefact(const FilePart& part, const std::filesystem::path& folder) {
  const UniqueFd from(::open(part.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from || ::lseek(from.get(), part.offset, SEEK_SET) < 0) return system_error("open", part.file);
  const std::filesystem::path temporary = folder / fmt::format("import-{}.tmp", ::getpid());
  const UniqueFd to(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!to) return system_error("create", temporary);
  auto artefact = copy(from.get(), to.get(), part.bytes, part);
  if (artefact && ::fsync(to.get()) != 0) artefact = system_error("write", temporary);
  if (artefact && ::rename(temporary.c_str(), (folder / artefact->sha256.hex()).c_str()) != 0) {
    artefact = system_error("rename", temporary);
  }
  if (!artefact) {
    ::unlink(temporary.c_str());
    return artefact;
  }
  sync_folder(folder);
  return artefact;
}

}  // namespace starling::server
