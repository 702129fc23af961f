#include "db/stores/write_queue.h"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <system_error>
#include <utility>

#include "db/sql/transaction.h"
#include "shared/base/log.h"
#include "shared/base/verify.h"

namespace starling::db {
namespace {

constexpr Duration kIdleBeforeTidying = from_ms(2'000);

// Whether an error is the database's, not one operation's.
bool concerns_all(ErrorCode code) {
  return code == ErrorCode::resource_exhausted || code == ErrorCode::io || code == ErrorCode::corrupt;
}

}  // namespace

WriteQueue::WriteQueue(std::unique_ptr<Writer> writer, const WriteQueueOptions& options)
    : options_(options), writer_(std::move(writer)) {
  thread_ = std::thread([this] { loop(); });
}

WriteQueue::~WriteQueue() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  writer_->hurry();
  thread_.join();
}

Status WriteQueue::submit(Operation operation, Completion done, By by) {
  {
    MutexLock lock(mutex_);
    if (fatal_) return *fatal_;
    if (closing_) return Error{ErrorCode::unavailable, "the database is closing"};
    if (queue_.size() >= options_.queue_max) {
      return Error{ErrorCode::resource_exhausted,
                   fmt::format("{} writes wait for the database already; try again later", queue_.size())};
    }
    queue_.push_back({std::move(operation), std::move(done), by});
  }
  changed_.notify_one();
  return {};
}

Status WriteQueue::run(const Operation& operation, By by) {
  VERIFY(std::this_thread::get_id() != thread_.get_id());
  std::promise<Status> outcome;
  STARLING_TRY(submit(
      operation, [&outcome](const Status& status) { outcome.set_value(status); }, by));
  return outcome.get_future().get();
}

WriteStats WriteQueue::stats() const { return {commits_.load(), writes_.load(), disk_full_.load()}; }

void WriteQueue::loop() {
  TimePoint not_before{};
  while (std::optional<Batch> batch = next_batch(not_before)) {
    if (batch->empty()) {
      tidy(true);
      continue;
    }
    not_before = clock_.now() + options_.commit_interval;
    finish(*batch);
    tidy(false);
  }
  tidy(true);
}

// An empty batch when there has been nothing to do for a while; nothing when the queue is closing and empty.
std::optional<WriteQueue::Batch> WriteQueue::next_batch(TimePoint not_before) {
  MutexLock lock(mutex_);
  while (queue_.empty() && !closing_) {
    if (!writer_->untidy()) {
      changed_.wait(mutex_);
    } else if (!changed_.wait_for(mutex_, kIdleBeforeTidying) && queue_.empty()) {
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
  if (full() && writer_->make_room()) committed = commit(batch, outcomes);
  if (full() && !disk_full_) log_error("{}: contributions are refused until there is space", committed.error().message);
  disk_full_ = full();
  const bool fatal = !committed && concerns_all(committed.error().code) && !full();
  if (fatal) fail_for_good(committed.error());
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].done(committed ? outcomes[i] : committed);
}

// Ok: the transaction is on the disk, and `outcomes` says which of its operations took part.
Status WriteQueue::commit(Batch& batch, std::vector<Status>& outcomes) {
  STARLING_TRY(writer_->write([&](Connection& connection) -> Status {
    outcomes.assign(batch.size(), Status());
    for (std::size_t i = 0; i < batch.size(); ++i) STARLING_TRY(apply(connection, batch[i], outcomes[i]));
    return {};
  }));
  commits_ += 1;
  writes_ += static_cast<std::int64_t>(batch.size());
  return {};
}

// An error means that the transaction cannot go on; the operation's own failure is its outcome.
Status WriteQueue::apply(Connection& connection, const Pending& pending, Status& outcome) {
  if (pending.by == By::leader) {
    outcome = writer_->may_lead();
    if (!outcome.ok()) return {};
  }
  STARLING_ASSIGN(Savepoint savepoint, Savepoint::begin(connection));
  outcome = pending.operation(connection);
  if (outcome.ok()) return savepoint.release();
  if (concerns_all(outcome.error().code) || !connection.in_transaction()) return outcome;
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

void WriteQueue::tidy(bool idle) {
  if (const Status tidied = writer_->tidy(idle); !tidied) fail_for_good(tidied.error());
}

}  // namespace starling::db
