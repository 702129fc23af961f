// A place in the log that strangers can fill: a peer, a coordinator or a caller whose deeds are worth a line, as often
// as they like. At most one line is written per interval, and it says how many were kept back.
#pragma once

#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/log.h"
#include "shared/base/log_limit.h"
#include "shared/base/mutex.h"

namespace starling {

// Each kind of line has its own. May be used from any thread. True: the line was written. A caller that logs a value
// when it changes compares it with the one that it wrote last, so that the last word is written in the end.
class LimitedLog {
 public:
  explicit LimitedLog(Duration interval = std::chrono::seconds(10)) : limit_(interval) {}

  bool info(TimePoint now, std::string_view line) { return write(LogLevel::info, now, line); }
  bool warning(TimePoint now, std::string_view line) { return write(LogLevel::warning, now, line); }
  bool error(TimePoint now, std::string_view line) { return write(LogLevel::error, now, line); }

 private:
  bool write(LogLevel level, TimePoint now, std::string_view line) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto kept_back = limit_.admit(now);
    if (kept_back) log(level, "{}{}", line, more_of_them(*kept_back));
    return kept_back.has_value();
  }

  Mutex mutex_;
  LogLimit limit_ GUARDED_BY(mutex_);
};

}  // namespace starling
