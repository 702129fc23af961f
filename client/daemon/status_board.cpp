#include "client/daemon/status_board.h"

#include <chrono>
#include <utility>

namespace starling::daemon {

void StatusBoard::publish(wire::DaemonStatus status) {
  {
    const MutexLock lock(mutex_);
    status.revision = status_.revision;
    if (wire::encode_status(status) == wire::encode_status(status_)) return;
    ++status.revision;
    status_ = std::move(status);
  }
  news_.notify_all();
}

wire::DaemonStatus StatusBoard::wait(std::int64_t after, Duration timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const MutexLock lock(mutex_);
  while (!closed_ && status_.revision <= after) {
    const Duration left = deadline - std::chrono::steady_clock::now();
    if (left <= Duration::zero()) break;
    news_.wait_for(mutex_, left);
  }
  return status_;
}

void StatusBoard::close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
  }
  news_.notify_all();
}

}  // namespace starling::daemon
