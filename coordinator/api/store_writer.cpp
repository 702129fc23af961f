#include "coordinator/api/store_writer.h"

#include <algorithm>
#include <utility>

#include "shared/base/log.h"

namespace starling::api {

StoreWriter::StoreWriter() : thread_([this] { loop(); }) {}

StoreWriter::~StoreWriter() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void StoreWriter::add(std::string what, Write write, std::function<void()> refused) {
  MutexLock lock(mutex_);
  entries_.push_back({std::move(what), std::move(write), std::move(refused)});
  changed_.notify_all();
}

std::size_t StoreWriter::waiting() const {
  MutexLock lock(mutex_);
  return entries_.size();
}

// Copies the first entry; false when there is none and none will come.
bool StoreWriter::next(Entry& entry) {
  MutexLock lock(mutex_);
  while (entries_.empty() && !closing_) changed_.wait(mutex_);
  if (entries_.empty()) return false;
  entry = entries_.front();
  return true;
}

// Removes the first entry, which is done with.
void StoreWriter::drop_first() {
  MutexLock lock(mutex_);
  entries_.pop_front();
}

// Returns false when the process is ending: there is no time to wait.
bool StoreWriter::wait(Duration pause) {
  MutexLock lock(mutex_);
  if (!closing_) changed_.wait_for(mutex_, pause);  // a new entry ends it early, which does no harm
  return !closing_;
}

// The rows themselves were refused: they break a rule of the database, or name what is not there any more. All other
// failures are the disk's or the moment's.
bool StoreWriter::is_final(const Status& written) {
  if (written.ok()) return false;
  switch (written.error().code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::already_exists:
    case ErrorCode::failed_precondition:
      return true;
    default:
      return false;
  }
}

void StoreWriter::loop() {
  Duration pause = kRetryFirst;
  Entry entry;
  while (next(entry)) {
    const Status written = entry.write();
    if (is_final(written)) {
      log_error("{}: {}; it can never be stored and is dropped", entry.what, written.error().message);
      if (entry.refused) entry.refused();
    } else if (!written.ok()) {
      if (pause == kRetryFirst) log_error("{}: {}", entry.what, written.error().message);
      if (wait(pause)) {
        pause = std::min(2 * pause, kRetryMax);
        continue;
      }
    }
    pause = kRetryFirst;
    drop_first();
  }
}

}  // namespace starling::api
