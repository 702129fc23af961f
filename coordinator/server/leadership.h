// The leader among the processes that serve one project: it alone hears heartbeats and plans rounds. A project whose
// database is a file has one process, and it leads.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "db/stores/database.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

namespace starling::server {

class Leadership {
 public:
  // `address`: HOST:PORT at which others reach this process, empty when they cannot; nothing: there are no others. The
  // database must outlive this object.
  Leadership(db::Database& database, std::optional<std::string> address)
      : database_(database), address_(std::move(address)) {}

  // Takes the lead if nobody has it. Call it every half second, from one thread. An error: the database cannot be
  // asked, and until it can this process does not lead.
  Status look();

  // May be called from any thread.
  [[nodiscard]] bool leads() const { return leads_; }
  // HOST:PORT of the process that led at the last report; empty: none did.
  [[nodiscard]] std::string leader() const EXCLUDES(mutex_);

  // The leader's address as the database has it, for commands beside the servers.
  static Result<std::string> read_leader(const db::SettingStore& settings);

 private:
  Status follow(bool led) EXCLUDES(mutex_);

  db::Database& database_;
  const std::optional<std::string> address_;
  std::atomic<bool> leads_ = false;
  mutable Mutex mutex_;
  std::string leader_ GUARDED_BY(mutex_);
};

}  // namespace starling::server
