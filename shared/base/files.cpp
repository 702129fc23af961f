#include "shared/base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "shared/base/os_error.h"
#include "shared/base/unique_fd.h"

namespace starling {
namespace {

Status write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os_error("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status write_and_sync(const std::filesystem::path& path, std::span<const std::string_view> pieces, unsigned mode) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file) return os_error("create", path, errno);
  if (::fchmod(file.get(), mode) != 0) return os_error("set permissions of", path, errno);
  for (const std::string_view bytes : pieces) STARLING_TRY(write_all(file.get(), bytes, path));
  if (::fsync(file.get()) != 0) return os_error("sync", path, errno);
  return {};
}

// Where a path leads to through symbolic links, also when nothing is there yet. A circle ends where it was met last.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int kLinksMax = 40;  // the limit of the kernel
  std::error_code problem;
  for (int i = 0; i < kLinksMax && std::filesystem::is_symlink(path, problem); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, problem);
    if (problem) break;
    path = path.parent_path() / next;  // `next` alone where it is absolute
  }
  return path;
}

}  // namespace

Status sync_to_disk(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return os_error("open", path, errno);
  if (::fsync(fd.get()) != 0) return os_error("sync", path, errno);
  return {};
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return os_error("open", path, errno);
  std::string bytes;
  struct stat info {};
  if (::fstat(file.get(), &info) == 0 && info.st_size > 0) {
    bytes.reserve(std::min(static_cast<std::size_t>(info.st_size), bytes_max));
  }
  char chunk[1 << 16];
  while (true) {
    const ssize_t got = ::read(file.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error("read", path, errno);
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
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) status = os_error("replace", path, errno);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return sync_to_disk(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
}

Status write_where_told(const std::filesystem::path& path, std::string_view bytes, const WriteOptions& options) {
  struct stat found {};
  // Asks for the path itself: the name of an open pipe, /dev/stdout say, leads nowhere else.
  if (::stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) {
    return write_file_atomically(behind_links(path), bytes, options);
  }
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return os_error("write to", path, errno);
  return write_all(file.get(), bytes, path);
}

Status ensure_directory(const std::filesystem::path& path, unsigned mode) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) return {};
  if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), problem);
    if (problem) return os_error("create folder", path.parent_path(), problem.value());
  }
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return os_error("create folder", path, errno);
  return {};
}

Result<FileLock> FileLock::acquire(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return os_error("open lock", path, errno);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int problem = errno;
    ::close(fd);
    if (problem == EWOULDBLOCK) {
      return Error{ErrorCode::already_exists,
                   fmt::format("lock '{}': another process is using this folder", path.string())};
    }
    return os_error("lock", path, problem);
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
