// A place in the log that strangers can fill: a peer, a coordinator or a caller whose deeds are worth a line, as often
// as they like. At most one line is written per interval, and it says how many were kept back.
#pragma once

#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/log.h"
#include "shared/base/log_limit.h"
#include "shared/base/mutex.h"

namespace starling {

// Each kind of line has its own. May be used from any thread.
class LimitedLog {
 public:
  explicit LimitedLog(Duration interval = std::chrono::seconds(10)) : limit_(interval) {}

  void info(TimePoint now, std::string_view line) { write(LogLevel::info, now, line); }
  void warning(TimePoint now, std::string_view line) { write(LogLevel::warning, now, line); }
  void error(TimePoint now, std::string_view line) { write(LogLevel::error, now, line); }

 private:
  void write(LogLevel level, TimePoint now, std::string_view line) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (const auto kept_back = limit_.admit(now)) log(level, "{}{}", line, more_of_them(*kept_back));
  }

  Mutex mutex_;
  LogLimit limit_ GUARDED_BY(mutex_);
};

}  // namespace starling
