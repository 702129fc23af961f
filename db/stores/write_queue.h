// The one writer: a thread with the only connection of this process that writes. Operations that arrive
// close together share a transaction and so one wait for the disk; each has a savepoint, so that one that
// fails does not spoil the others. Nobody is told "ok" before the commit is on the disk.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "db/sql/connection.h"
#include "db/stores/writer.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

namespace starling::db {

// Sizes and times of a process's one queue.
struct WriteQueueOptions {
  Duration commit_interval = from_ms(10);           // least time from the start of one commit to the next
  std::size_t batch_max = 4096;                     // operations in one transaction
  std::size_t queue_max = 16'384;                   // operations that wait; further ones are refused
  std::function<void(const Error&)> on_fatal = {};  // see DatabaseOptions
};

// Counts since the queue was made; see DatabaseHealth.
struct WriteStats {
  std::int64_t commits = 0;
  std::int64_t writes = 0;
  bool disk_full = false;
};

class WriteQueue {
 public:
  // Runs inside a transaction, on the writer's thread. It may run twice (when the first try found the disk full, or its
  // server went away), so it assigns its results rather than adding to them. An error undoes this operation alone,
  // except resource_exhausted, io and corrupt: these concern the file and undo the whole batch.
  using Operation = std::function<Status(Connection&)>;
  // Called once on the writer's thread when the outcome is certain. Must be quick; must not wait for a write.
  using Completion = std::function<void(const Status&)>;

  // The operation's origin: one of the leader's is refused (failed_precondition) in a process that no longer leads.
  enum class By : std::uint8_t { anybody, leader };

  WriteQueue(std::unique_ptr<Writer> writer, const WriteQueueOptions& options);
  // Commits queued operations, tidies up, closes.
  ~WriteQueue();
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  // resource_exhausted when the queue is full; then `done` is never called.
  Status submit(Operation operation, Completion done, By by = By::anybody);
  // Submits and waits. Not from the writer's thread.
  Status run(const Operation& operation, By by = By::anybody);

  [[nodiscard]] WriteStats stats() const;

 private:
  struct Pending {
    Operation operation;
    Completion done;
    By by;
  };
  using Batch = std::vector<Pending>;

  void loop();
  std::optional<Batch> next_batch(TimePoint not_before);
  void finish(Batch& batch);
  Status commit(Batch& batch, std::vector<Status>& outcomes);
  Status apply(Connection& connection, const Pending& pending, Status& outcome);
  void tidy(bool idle);
  void fail_for_good(const Error& error);

  const WriteQueueOptions options_;
  SystemClock clock_;
  std::unique_ptr<Writer> writer_;  // used by the writer thread only

  std::atomic<std::int64_t> commits_{0};
  std::atomic<std::int64_t> writes_{0};
  std::atomic<bool> disk_full_{false};

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Pending> queue_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  std::optional<Error> fatal_ GUARDED_BY(mutex_);
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace starling::db
