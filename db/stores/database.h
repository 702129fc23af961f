// The coordinator's database: its one writer thread, its readers, its stores. It is a SQLite file in WAL mode, or lives
// on a PostgreSQL server.
// Several processes may open one database (the server, and an operator's command beside it). One at a time writes. A
// file is guarded by a lock file beside it, because SQLite before 3.51.3 can damage a database when two connections
// write or checkpoint at once; a server has a lock of its own. Readers never wait.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::db {

// Settings of this process's access to the database.
struct DatabaseOptions {
  bool create = false;                     // false: not_found when there is no such file, or nothing in it
  Duration commit_interval = from_ms(10);  // how long a write waits for others to share its commit
  int readers_max = 8;                     // read connections; further readers wait their turn
  std::string vfs = {};                    // SQLite's file layer, empty for the default; tests use their own
  // Space reserve beside a file, freed to finish a checkpoint when the disk is full. 0: none.
  std::int64_t ballast_bytes = 16 * 1024 * 1024;
  // By which bans end; null: the machine's. It outlives the database.
  const Clock* clock = nullptr;
  // Called once, from the writer's thread, when the disk lost a write that it had accepted (EIO). Every later write
  // fails, and the process should end with an error, so that a supervisor restarts it.
  std::function<void(const Error&)> on_fatal = {};
};

// Figures for the operator's metrics; counts are since this process opened the database.
struct DatabaseHealth {
  std::int64_t commits = 0;
  std::int64_t writes = 0;      // operations in those commits
  std::int64_t file_bytes = 0;  // for a server's database: the size it takes there
  std::int64_t wal_bytes = 0;
  bool disk_full = false;  // the last batch found no space; cleared by the next that succeeds
};

class Database {
 public:
  // Opens, checks and migrates the file. corrupt: the message names the file, which is left untouched. unsupported: a
  // newer program wrote it.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file, const DatabaseOptions& options);
  // Opens a database on a server (db/postgres describes `url` and its errors). The database itself must exist and, with
  // `create`, may be empty.
  static Result<std::unique_ptr<Database>> connect(const std::string& url, const DatabaseOptions& options);
  // Commits queued writes, then closes.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[nodiscard]] const Stores& stores() const;
  [[nodiscard]] DatabaseHealth health() const;
  // Reads every page (of a file) and checks the ledger against its totals. Takes seconds on a large one.
  Status check() const;
  // Makes a consistent copy as a file while others read and write, wherever this database is; `to` must not exist.
  Status backup(const std::filesystem::path& to);
  // Copies it into the empty database at `url`, on a server (already_exists if it is not empty). All of it or nothing.
  Status copy_to_server(const std::string& url);
  // One of the processes that serve one database leads: it plans rounds and writes their results. Takes the lead if
  // nobody has it; returns whether this process has it now. Call it every half second: a leader that does not call for
  // db::kLeaderSilenceMax loses the lead, and is told so once before it may have it again. From the first call on,
  // contributions, lanes, evaluations and copies of the state are refused (failed_precondition) while this process does
  // not lead. A file's server always leads: a lock of the project's makes it the only one.
  Result<bool> campaign();

 private:
  struct Parts;
  explicit Database(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace starling::db
