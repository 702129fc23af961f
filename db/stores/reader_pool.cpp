#include "db/stores/reader_pool.h"

#include <utility>

namespace starling::db {

ReaderPool::Lease::~Lease() {
  if (connection_) pool_->give_back(std::move(connection_));
}

Result<ReaderPool::Lease> ReaderPool::acquire() {
  {
    const SystemClock clock;
    const TimePoint give_up = clock.now() + kPatience;
    MutexLock lock(mutex_);
    while (lent_ >= readers_max_) {
      const TimePoint now = clock.now();
      // Others may take a returned reader: the patience is for all waits together.
      if (now >= give_up || (!returned_.wait_for(mutex_, give_up - now) && lent_ >= readers_max_)) {
        return Error{ErrorCode::unavailable, "all database readers are busy; try again later"};
      }
    }
    lent_ += 1;
    while (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      if (connection->usable()) return Lease(*this, std::move(connection));
    }
  }
  Result<Connection> opened = open_();
  if (!opened) {
    give_back(nullptr);
    return opened.error();
  }
  return Lease(*this, std::make_unique<Connection>(std::move(opened).value()));
}

void ReaderPool::give_back(std::unique_ptr<Connection> connection) {
  {
    MutexLock lock(mutex_);
    lent_ -= 1;
    if (connection) idle_.push_back(std::move(connection));
  }
  returned_.notify_one();
}

}  // namespace starling::db
