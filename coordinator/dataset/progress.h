// Reports the progress of long work to a person at a terminal, for the first time after two seconds, then every two
// seconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::dataset {

class Progress {
 public:
  // Called on a thread of its own with a line: "reading text: 12.0 of 80.0 MB".
  using Tell = std::function<void(const std::string& line)>;
  explicit Progress(Tell tell, Duration every = std::chrono::seconds(2));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Starts the next piece of work. `total` is its size in `unit`; 0: unknown.
  void begin(std::string doing, std::int64_t total, std::string unit) EXCLUDES(mutex_);
  void advance_to(std::int64_t done) { done_ = done; }

 private:
  void run() EXCLUDES(mutex_);
  [[nodiscard]] std::string line(TimePoint now) const REQUIRES(mutex_);

  Tell tell_;
  Duration every_;
  SystemClock clock_;
  std::atomic<std::int64_t> done_{0};
  mutable Mutex mutex_;
  ConditionVariable wake_;
  bool over_ GUARDED_BY(mutex_) = false;
  std::string doing_ GUARDED_BY(mutex_);
  std::int64_t total_ GUARDED_BY(mutex_) = 0;
  std::string unit_ GUARDED_BY(mutex_);
  TimePoint began_ GUARDED_BY(mutex_){};
  std::thread thread_;
};

}  // namespace starling::dataset
