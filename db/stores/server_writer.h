// Writes to a PostgreSQL server, which may go away and come back.
//
// A transaction whose connection breaks is repeated on a new one. If the break happened in the middle of its commit,
// the server is asked first whether it was committed. So everything reported as ok was written, and once.
//
// The leading process is the one whose writing session holds the server's leader lock. Lock and session end together,
// so a leader that was cut off, stopped or replaced can write nothing more as the leader: may_lead() holds for the
// session.
#pragma once

#include <optional>

#include "db/stores/writer.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::db {

class ServerWriter final : public Writer {
 public:
  // `connection` has the role writer and leads to the database at `url`.
  ServerWriter(std::string url, Connection connection);

  Status write(const Work& work) override;
  Status tidy(bool) override { return {}; }
  void hurry() override;
  [[nodiscard]] Status may_lead() const override;
  [[nodiscard]] const std::string& name() const override { return name_; }

  // Takes the lead if nobody has it; returns whether this process has it now. Once the lead is lost, the next call says
  // so, and only the one after it tries again. Call it inside `work`, every second at least while leading
  // (kLeaderSilenceMax).
  Result<bool> campaign();

 private:
  Status connect();
  void hang_up();
  Status attempt(const Work& work, std::int64_t& number);
  Result<bool> settle(std::int64_t number);
  bool hurried_within(Duration time);

  const std::string url_;
  const std::string name_;
  std::optional<Connection> connection_;  // empty: it broke
  bool candidate_ = false;
  bool leads_ = false;      // in the present connection
  bool lost_lead_ = false;  // the loss has not been reported yet

  Mutex mutex_;
  ConditionVariable hurried_;
  bool hurry_ GUARDED_BY(mutex_) = false;
};

}  // namespace starling::db
