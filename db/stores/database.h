// The coordinator's database: one SQLite file in WAL mode, its one writer thread, its readers, its stores.
// Several processes may open the same file (the server, and an operator's command beside it): a lock file
// beside it lets one of them at a time write or checkpoint, since SQLite before 3.51.3 can damage a
// database when two connections do that at once. Readers never wait.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::db {

struct DatabaseOptions {
  bool create = false;                     // false: not_found when there is no such file
  Duration commit_interval = from_ms(10);  // how long a write waits for others to share its commit
  int readers_max = 8;                     // read connections; further readers wait their turn
  std::string vfs = {};                    // SQLite's file layer, empty for the default; tests use their own
  // A space reserve, freed to finish a checkpoint when the disk is full. 0: none.
  std::int64_t ballast_bytes = 16 * 1024 * 1024;
  // Called once, from the writer's thread, when the disk lost a write that it had accepted (EIO): after
  // it every write fails, and the process should end with an error, so that a supervisor restarts it.
  std::function<void(const Error&)> on_fatal = {};
};

struct DatabaseHealth {
  std::int64_t commits = 0;
  std::int64_t writes = 0;  // operations in those commits
  std::int64_t file_bytes = 0;
  std::int64_t wal_bytes = 0;
  bool disk_full = false;  // the last batch found no space; cleared by the next that succeeds
};

class Database {
 public:
  // Opens, checks and migrates the file. corrupt: the message names the file, which is left as it is.
  // unsupported: a newer program wrote it.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file, const DatabaseOptions& options);
  // Commits what is queued, then closes.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[nodiscard]] const Stores& stores() const;
  [[nodiscard]] DatabaseHealth health() const;
  // Reads every page and checks the ledger against its totals. Takes seconds on a large file.
  Status check() const;
  // A consistent copy, made while others read and write; `to` must not exist.
  Status backup(const std::filesystem::path& to);

 private:
  struct Parts;
  explicit Database(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace starling::db
