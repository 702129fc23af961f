// Where the batches of a write queue go: the one connection of this process that writes. One thread's, but hurry().
#pragma once

#include <functional>
#include <string>

#include "db/sql/connection.h"
#include "shared/base/result.h"

namespace starling::db {

class Writer {
 public:
  using Work = std::function<Status(Connection&)>;
  virtual ~Writer() = default;

  // One transaction around `work`, which no other process writes into: ok() once it is on the disk. `work` may be
  // called again, when a first transaction has left nothing behind. resource_exhausted, io and corrupt speak of the
  // whole database; unavailable: not now.
  virtual Status write(const Work& work) = 0;
  // A write found no room: true when it is worth another try.
  virtual bool make_room() { return false; }
  // Between writes; `idle`: nothing has been written for a while. An error is for good.
  virtual Status tidy(bool idle) = 0;
  [[nodiscard]] virtual bool untidy() const { return false; }  // tidy(true) would do something
  // From any thread: the database is being closed, so nobody waits for what is away any more.
  virtual void hurry() {}
  // Inside `work`. failed_precondition: this process took part in choosing a leader and is not the one.
  [[nodiscard]] virtual Status may_lead() const { return {}; }
  [[nodiscard]] virtual const std::string& name() const = 0;  // as errors call the database
};

}  // namespace starling::db
