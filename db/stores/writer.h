// The destination of a write queue's batches: the one connection of this process that writes. Used by one thread,
// except hurry().
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

  // Runs `work` in one transaction, into which no other process writes: ok() once it is on the disk. `work` may be
  // called again, when a first transaction has left nothing behind. resource_exhausted, io and corrupt concern the
  // whole database; unavailable: not now.
  virtual Status write(const Work& work) = 0;
  // Called when a write found no room; true when another try is worthwhile.
  virtual bool make_room() { return false; }
  // Called between writes; `idle`: nothing has been written for a while. An error is permanent.
  virtual Status tidy(bool idle) = 0;
  [[nodiscard]] virtual bool untidy() const { return false; }  // tidy(true) would do something
  // From any thread: the database is being closed, so nobody waits for a server that is away any more.
  virtual void hurry() {}
  // Inside `work`. failed_precondition: this process took part in choosing a leader and is not the leader.
  [[nodiscard]] virtual Status may_lead() const { return {}; }
  [[nodiscard]] virtual const std::string& name() const = 0;  // name of the database in error messages
};

}  // namespace starling::db
