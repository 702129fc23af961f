#include "shared/net/cancel_event.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>

namespace starling::net {

TimePoint monotonic_now() { return SystemClock().now(); }

CancelEvent::CancelEvent() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { VERIFY(fd_ >= 0); }
CancelEvent::~CancelEvent() { close(fd_); }

void CancelEvent::set() {
  const std::uint64_t one = 1;
  VERIFY(write(fd_, &one, sizeof one) == sizeof one || errno == EAGAIN);
}

bool CancelEvent::is_set() const {
  pollfd fd{fd_, POLLIN, 0};
  return poll(&fd, 1, 0) > 0;
}

Status CancelEvent::wait_until(TimePoint due, std::string_view what) const {
  while (true) {
    const Duration left = due - monotonic_now();
    if (left <= Duration::zero()) return {};
    const timespec timeout = {std::chrono::duration_cast<std::chrono::seconds>(left).count(),
                              static_cast<long>((left % std::chrono::seconds(1)).count())};
    pollfd cancelled{fd_, POLLIN, 0};
    if (ppoll(&cancelled, 1, &timeout, nullptr) > 0) {
      return Error{ErrorCode::unavailable, std::string(what) + ": cancelled"};
    }
  }
}

}  // namespace starling::net
