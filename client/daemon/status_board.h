// The daemon's status as everyone sees it: the control thread publishes, connections wait for news.
#pragma once

#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/wire/control.h"

namespace starling::daemon {

class StatusBoard {
 public:
  // Raises the revision when anything but the revision differs from what is shown.
  void publish(wire::DaemonStatus status) EXCLUDES(mutex_);
  // The newest status, at once or as soon as its revision is above `after`; the same one again after `timeout`.
  wire::DaemonStatus wait(std::int64_t after, Duration timeout) EXCLUDES(mutex_);
  // Ends all waits, now and later.
  void close() EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  ConditionVariable news_;
  wire::DaemonStatus status_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace starling::daemon
