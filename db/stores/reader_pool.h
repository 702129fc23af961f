// Connections that only read, each lent to one caller at a time.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "db/sql/connection.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

namespace starling::db {

class ReaderPool {
 public:
  using Open = std::function<Result<Connection>()>;
  ReaderPool(Open open, int readers_max) : open_(std::move(open)), readers_max_(readers_max) {}

  class Lease {
   public:
    Lease(ReaderPool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }

   private:
    ReaderPool* pool_;
    std::unique_ptr<Connection> connection_;  // null after a move
  };
  // Waits while all are lent; unavailable when that takes longer than kPatience.
  Result<Lease> acquire();

  static constexpr Duration kPatience = from_ms(5'000);

 private:
  void give_back(std::unique_ptr<Connection> connection);

  const Open open_;
  const int readers_max_;
  Mutex mutex_;
  ConditionVariable returned_;
  std::vector<std::unique_ptr<Connection>> idle_ GUARDED_BY(mutex_);
  int lent_ GUARDED_BY(mutex_) = 0;
};

}  // namespace starling::db
