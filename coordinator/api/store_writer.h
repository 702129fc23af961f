// Writes that must not be lost and must not keep a heartbeat waiting: done in order on a thread of its own, each again
// and again until the store has taken it, or has said that it never will.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

namespace starling::api {

class StoreWriter {
 public:
  using Write = std::function<Status()>;

  StoreWriter();
  // Gives queued writes one more try, then ends: a write that the store does not take at the end of the process was
  // never promised to anybody.
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  // `what` names the write in the log, should it fail. Callers bound the writes they add (see run_service.h). `refused`
  // is called, on the writer's thread, when the write can never be done: it is dropped then, and the writes behind it
  // go on.
  void add(std::string what, Write write, std::function<void()> refused = nullptr);
  [[nodiscard]] std::size_t waiting() const;

  static constexpr Duration kRetryFirst = std::chrono::milliseconds(100);
  static constexpr Duration kRetryMax = std::chrono::seconds(5);

 private:
  struct Entry {
    std::string what;
    Write write;
    std::function<void()> refused;
  };
  void loop();
  bool next(Entry& entry);
  void drop_first();
  bool wait(Duration pause);
  static bool is_final(const Status& written);

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Entry> entries_ GUARDED_BY(mutex_);  // the first may be under way
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace starling::api
