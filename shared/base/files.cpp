#include "shared/base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace starling {
namespace {

Error system_error(std::string_view what, const std::filesystem::path& path, int error_number) {
  ErrorCode code = ErrorCode::io;
  if (error_number == ENOENT) code = ErrorCode::not_found;
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS) code = ErrorCode::permission_denied;
  if (error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG) code = ErrorCode::resource_exhausted;
  return {code, fmt::format("{} '{}': {}", what, path.string(), std::strerror(error_number))};
}

struct Descriptor {
  int fd = -1;
  explicit Descriptor(int opened) : fd(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Status write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status write_and_sync(const std::filesystem::path& path, std::span<const std::string_view> pieces, unsigned mode) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
  if (file.fd < 0) return system_error("create", path, errno);
  if (::fchmod(file.fd, mode) != 0) return system_error("set permissions of", path, errno);
  for (const std::string_view bytes : pieces) STARLING_TRY(write_all(file.fd, bytes, path));
  if (::fsync(file.fd) != 0) return system_error("sync", path, errno);
  return {};
}

Status sync_directory(const std::filesystem::path& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.fd < 0) return system_error("open folder", path, errno);
  if (::fsync(directory.fd) != 0) return system_error("sync folder", path, errno);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return system_error("open", path, errno);
  std::string bytes;
  struct stat info {};
  if (::fstat(file.fd, &info) == 0 && info.st_size > 0) {
    bytes.reserve(std::min(static_cast<std::size_t>(info.st_size), bytes_max));
  }
  char chunk[1 << 16];
  while (true) {
    const ssize_t got = ::read(file.fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path, errno);
    if (got == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(got) > bytes_max) {
      return Error{ErrorCode::corrupt,
                   fmt::format("read '{}': larger than the limit of {} bytes", path.string(), bytes_max)};
    }
    bytes.append(chunk, static_cast<std::size_t>(got));
  }
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes, const WriteOptions& options) {
  return write_file_atomically(path, std::span(&bytes, 1), options);
}

Status write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces,
                             const WriteOptions& options) {
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path temporary = path.string() + fmt::format(".tmp-{}-{}", ::getpid(), counter.fetch_add(1));
  Status status = write_and_sync(temporary, pieces, options.mode);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) status = system_error("replace", path, errno);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return sync_directory(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
}

Status ensure_directory(const std::filesystem::path& path, unsigned mode) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) return {};
  if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), problem);
    if (problem) return system_error("create folder", path.parent_path(), problem.value());
  }
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return system_error("create folder", path, errno);
  return {};
}

Result<FileLock> FileLock::acquire(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return system_error("open lock", path, errno);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int problem = errno;
    ::close(fd);
    if (problem == EWOULDBLOCK) {
      return Error{ErrorCode::already_exists,
                   fmt::format("lock '{}': another process is using this folder", path.string())};
    }
    return system_error("lock", path, problem);
  }
  return FileLock(fd);
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace starling
