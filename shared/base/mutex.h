// A mutex that Clang's thread-safety analysis understands. Members guarded by it stand beneath it
// with GUARDED_BY(mutex_); private helpers that need it held say REQUIRES(mutex_).
#pragma once

#include <condition_variable>
#include <mutex>

#include "shared/base/clock.h"

#if defined(__clang__)
#define STARLING_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define STARLING_THREAD_ANNOTATION(x)
#endif
#define CAPABILITY(x) STARLING_THREAD_ANNOTATION(capability(x))
#define SCOPED_CAPABILITY STARLING_THREAD_ANNOTATION(scoped_lockable)
#define GUARDED_BY(x) STARLING_THREAD_ANNOTATION(guarded_by(x))
#define REQUIRES(...) STARLING_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) STARLING_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) STARLING_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define EXCLUDES(...) STARLING_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace starling {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// Holds the mutex for the length of a scope.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits may wake spuriously: call them in a loop on the guarded condition.
class ConditionVariable {
 public:
  void wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // Returns false when `timeout` passed without a notification.
  bool wait_for(Mutex& mutex, Duration timeout) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const auto status = condition_.wait_for(lock, timeout);
    lock.release();
    return status == std::cv_status::no_timeout;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace starling
