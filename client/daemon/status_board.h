// The daemon's status for all viewers: the control thread publishes, connections wait for news.
#pragma once

#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/control/control.h"

namespace starling::daemon {

class StatusBoard {
 public:
  // Raises the revision if anything but the revision differs from the status shown.
  void publish(wire::DaemonStatus status) EXCLUDES(mutex_);
  // Returns the newest status, at once or when its revision is above `after`; after `timeout` it is unchanged.
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
