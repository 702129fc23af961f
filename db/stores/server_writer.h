// Writes to a PostgreSQL server, which may go away and come back.
//
// A transaction whose connection breaks is done again on a new one; when that happened in the middle of its commit, the
// server is asked first what became of it. So whatever was told ok was written, and once.
//
// The process that leads is the one whose writing session holds the server's leader lock. Lock and session end
// together, and so a leader that was cut off, stopped or replaced can write nothing more as one: may_lead() holds for
// the session.
#pragma once

#include <optional>

#include "db/stores/writer.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::db {

class ServerWriter final : public Writer {
 public:
  // `connection` of role writer, to the database at `url`.
  ServerWriter(std::string url, Connection connection);

  Status write(const Work& work) override;
  Status tidy(bool) override { return {}; }
  void hurry() override;
  [[nodiscard]] Status may_lead() const override;
  [[nodiscard]] const std::string& name() const override { return name_; }

  // Takes the lead if nobody has it; whether this process has it now. Once it is lost, the next call says so, and only
  // the one after it tries again. Inside `work`; every second at least while leading (kLeaderSilenceMax).
  Result<bool> campaign();

 private:
  Status connect();
  void hang_up();
  Status attempt(const Work& work, std::int64_t& number);
  Result<bool> settle(std::int64_t number);
  bool hurried_within(Duration time);

  const std::string url_;
  const std::string name_;
  std::optional<Connection> connection_;  // nothing: it broke
  bool candidate_ = false;
  bool leads_ = false;      // with the present connection
  bool lost_lead_ = false;  // and nobody has been told

  Mutex mutex_;
  ConditionVariable hurried_;
  bool hurry_ GUARDED_BY(mutex_) = false;
};

}  // namespace starling::db
