#include "db/stores/write_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "shared/base/os_error.h"

namespace starling::db {
namespace {

// Another process holds the lock for one commit. It is tried repeatedly because flock() itself waits without end, a
// signal that cut it short would affect the whole process, and nothing tells when a killed process's lock has gone.
constexpr std::chrono::milliseconds kRetryEvery{1};

}  // namespace

Result<WriteLock> WriteLock::open(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) return WriteLock(fd);
  return os_error("open", file, errno);
}

WriteLock::~WriteLock() {
  if (fd_ >= 0) ::close(fd_);
}

WriteLock::Held::~Held() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

Result<WriteLock::Held> WriteLock::acquire(Duration patience) const {
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) {
      return Error{ErrorCode::io, "lock the database for writing: " + std::generic_category().message(errno)};
    }
    if (std::chrono::steady_clock::now() >= give_up) {
      return Error{ErrorCode::unavailable,
                   fmt::format("another process has been writing to the database for {} s", to_seconds(patience))};
    }
    std::this_thread::sleep_for(kRetryEvery);
  }
  return Held(fd_);
}

}  // namespace starling::db
