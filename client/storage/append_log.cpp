#include "client/storage/append_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "client/storage/set_aside.h"
#include "shared/base/log.h"
#include "shared/base/os_error.h"

namespace starling::storage {
namespace {

Result<UniqueFd> open_to_append(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return os_error("open", path, errno);
  return fd;
}

Result<std::string> read_tail(int fd, std::size_t file_bytes, const std::filesystem::path& path) {
  std::string tail(std::min(file_bytes, 2 * kLogLineMax), '\0');
  std::size_t have = 0;
  while (have < tail.size()) {
    const std::size_t offset = file_bytes - tail.size() + have;
    const ssize_t got = ::pread(fd, tail.data() + have, tail.size() - have, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return os_error("read", path, got < 0 ? errno : EIO);
    have += static_cast<std::size_t>(got);
  }
  return tail;
}

}  // namespace

Result<AppendLog> AppendLog::open(const std::filesystem::path& path) {
  STARLING_ASSIGN(UniqueFd fd, open_to_append(path));
  AppendLog log(path, std::move(fd));
  Status status = log.cut_torn_line();
  if (!status.ok() && status.error().code == ErrorCode::corrupt) {
    STARLING_TRY(set_aside(path, status.error().message).status());
    STARLING_ASSIGN(log.fd_, open_to_append(path));
    log.bytes_ = 0;
    return log;
  }
  if (!status.ok()) return status.error();
  return log;
}

Status AppendLog::cut_torn_line() {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return os_error("look at", path_, errno);
  const auto file_bytes = static_cast<std::size_t>(info.st_size);
  STARLING_ASSIGN(const std::string tail, read_tail(fd_.get(), file_bytes, path_));
  const std::size_t end = tail.rfind('\n');
  if (end == std::string::npos && tail.size() > kLogLineMax) {
    return Error{ErrorCode::corrupt, fmt::format("'{}' has no line end where one must be", path_.string())};
  }
  const std::size_t torn = end == std::string::npos ? tail.size() : tail.size() - end - 1;
  bytes_ = file_bytes - torn;
  if (torn > 0) {
    log_warning("'{}': dropping a last line that a crash left unfinished ({} bytes)", path_.string(), torn);
    if (::ftruncate(fd_.get(), static_cast<off_t>(bytes_)) != 0) return os_error("shorten", path_, errno);
  }
  if (end != std::string::npos && end > 0) {
    const std::size_t before = tail.rfind('\n', end - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    last_line_ = tail.substr(begin, end - begin);
  }
  return {};
}

Status AppendLog::append(std::string_view line, Durability durability) {
  const std::string bytes = std::string(line) + '\n';
  if (bytes.size() > kLogLineMax) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("append to '{}': a line of {} bytes is too long", path_.string(), bytes.size())};
  }
  std::size_t written = 0;
  int problem = 0;
  while (written < bytes.size() && problem == 0) {
    const ssize_t got = ::write(fd_.get(), bytes.data() + written, bytes.size() - written);
    if (got >= 0) {
      written += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      problem = errno;
    }
  }
  if (problem == 0 && durability == Durability::now && ::fdatasync(fd_.get()) != 0) problem = errno;
  if (problem == 0) {
    bytes_ += bytes.size();
    return {};
  }
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes_)) != 0) {
    log_warning("'{}' may end in half a line: {}", path_.string(), std::strerror(errno));
  }
  return os_error("append to", path_, problem);
}

}  // namespace starling::storage
