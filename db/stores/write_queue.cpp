#include "db/stores/write_queue.h"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <system_error>
#include <utility>

#include "db/sqlite/transaction.h"
#include "shared/base/log.h"
#include "shared/base/verify.h"

namespace starling::db {
namespace {

constexpr std::int64_t kCheckpointWalBytes = 4 * 1024 * 1024;
constexpr std::int64_t kWalAlarmBytes = 64 * 1024 * 1024;
constexpr Duration kIdleBeforeTruncate = from_ms(2'000);
constexpr Duration kTruncateEvery = from_ms(1'000);

// What the file says, as opposed to what one operation got wrong.
bool concerns_the_file(ErrorCode code) {
  return code == ErrorCode::resource_exhausted || code == ErrorCode::io || code == ErrorCode::corrupt;
}

std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix) {
  std::filesystem::path path = file;
  path += suffix;
  return path;
}

}  // namespace

WriteQueue::WriteQueue(Connection connection, WriteLock lock, const WriteQueueOptions& options)
    : options_(options),
      connection_(std::move(connection)),
      lock_(std::move(lock)),
      ballast_(beside(connection_.file(), ".ballast"), options.ballast_bytes) {
  ballast_.replenish(clock_.now());
  thread_ = std::thread([this] { loop(); });
}

WriteQueue::~WriteQueue() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Status WriteQueue::submit(Operation operation, Completion done) {
  {
    MutexLock lock(mutex_);
    if (fatal_) return *fatal_;
    if (closing_) return Error{ErrorCode::unavailable, "the database is closing"};
    if (queue_.size() >= options_.queue_max) {
      return Error{ErrorCode::resource_exhausted,
                   fmt::format("{} writes wait for the database already; try again later", queue_.size())};
    }
    queue_.push_back({std::move(operation), std::move(done)});
  }
  changed_.notify_one();
  return {};
}

Status WriteQueue::run(const Operation& operation) {
  VERIFY(std::this_thread::get_id() != thread_.get_id());
  std::promise<Status> outcome;
  STARLING_TRY(submit(operation, [&outcome](const Status& status) { outcome.set_value(status); }));
  return outcome.get_future().get();
}

WriteStats WriteQueue::stats() const { return {commits_.load(), writes_.load(), disk_full_.load()}; }

void WriteQueue::loop() {
  TimePoint not_before{};
  while (std::optional<Batch> batch = next_batch(not_before)) {
    if (batch->empty()) {
      tidy_wal(true);
      continue;
    }
    not_before = clock_.now() + options_.commit_interval;
    finish(*batch);
    tidy_wal(false);
    ballast_.replenish(clock_.now());
  }
  tidy_wal(true);
}

// Empty when there has been nothing to do for a while; nothing when the queue is closing and empty.
std::optional<WriteQueue::Batch> WriteQueue::next_batch(TimePoint not_before) {
  MutexLock lock(mutex_);
  while (queue_.empty() && !closing_) {
    if (!wal_dirty_) {
      changed_.wait(mutex_);
    } else if (!changed_.wait_for(mutex_, kIdleBeforeTruncate) && queue_.empty()) {
      return Batch();
    }
  }
  for (TimePoint now = clock_.now(); now < not_before && !closing_ && queue_.size() < options_.batch_max;
       now = clock_.now()) {
    changed_.wait_for(mutex_, not_before - now);
  }
  if (queue_.empty()) return std::nullopt;
  const auto count = static_cast<std::ptrdiff_t>(std::min(queue_.size(), options_.batch_max));
  Batch batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.begin() + count));
  queue_.erase(queue_.begin(), queue_.begin() + count);
  return batch;
}

void WriteQueue::finish(Batch& batch) {
  std::vector<Status> outcomes;
  Status committed = commit(batch, outcomes);
  const auto full = [&committed] { return !committed && committed.error().code == ErrorCode::resource_exhausted; };
  if (full() && ballast_.release()) {
    log_error("the disk of '{}' is full: writing into the last reserve. Free some space now",
              connection_.file().string());
    committed = commit(batch, outcomes);
  }
  if (full() && !disk_full_) log_error("{}: contributions are refused until there is space", committed.error().message);
  disk_full_ = full();
  const bool fatal = !committed && concerns_the_file(committed.error().code) && !full();
  if (fatal) fail_for_good(committed.error());
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].done(committed ? outcomes[i] : committed);
}

// Ok: the transaction is on the disk, and `outcomes` says which of its operations took part.
Status WriteQueue::commit(Batch& batch, std::vector<Status>& outcomes) {
  outcomes.assign(batch.size(), Status());
  STARLING_ASSIGN(const WriteLock::Held held, lock_.acquire(options_.lock_patience));
  STARLING_ASSIGN(Transaction transaction, Transaction::begin(connection_, TransactionKind::write));
  for (std::size_t i = 0; i < batch.size(); ++i) STARLING_TRY(apply(batch[i].operation, outcomes[i]));
  STARLING_TRY(transaction.commit());
  wal_dirty_ = true;
  commits_ += 1;
  writes_ += static_cast<std::int64_t>(batch.size());
  return {};
}

// An error means that the transaction cannot go on; the operation's own failure is its outcome.
Status WriteQueue::apply(const Operation& operation, Status& outcome) {
  STARLING_ASSIGN(Savepoint savepoint, Savepoint::begin(connection_));
  outcome = operation(connection_);
  if (outcome.ok()) return savepoint.release();
  if (concerns_the_file(outcome.error().code) || !connection_.in_transaction()) return outcome;
  return savepoint.undo();
}

void WriteQueue::fail_for_good(const Error& error) {
  std::deque<Pending> waiting;
  {
    MutexLock lock(mutex_);
    if (fatal_) return;
    fatal_ = error;
    waiting.swap(queue_);
  }
  log_error("{}: nothing more is written; restart the coordinator when the disk is well", error.message);
  if (options_.on_fatal) options_.on_fatal(error);
  for (Pending& pending : waiting) pending.done(error);
}

// Keeps the WAL short: it is moved into the file when it has grown, and emptied when nobody writes.
void WriteQueue::tidy_wal(bool idle) {
  const std::int64_t bytes = wal_bytes();
  const bool long_wal = bytes > kWalAlarmBytes && clock_.now() >= next_truncate_;
  if (!idle && bytes < kCheckpointWalBytes) return;
  const Result<WriteLock::Held> held = lock_.acquire(options_.lock_patience);
  if (!held) return;
  wal_dirty_ = false;
  Status status = connection_.checkpoint(idle || long_wal);
  if (long_wal) {
    next_truncate_ = clock_.now() + kTruncateEvery;
    if (!status)
      log_warning("'{}-wal' has grown to {} MB: a reader keeps it from being moved", connection_.file().string(),
                  bytes >> 20);
  }
  // Unavailable: a reader is busy, next time will do. Full: what is in the WAL is safe there.
  if (!status && concerns_the_file(status.error().code) && status.error().code != ErrorCode::resource_exhausted) {
    fail_for_good(status.error());
  }
}

std::int64_t WriteQueue::wal_bytes() const {
  std::error_code missing;
  const auto size = std::filesystem::file_size(beside(connection_.file(), "-wal"), missing);
  return missing ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace starling::db
