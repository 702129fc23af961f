// Writes to a SQLite file, moves its log into it, and keeps some space in reserve.
#pragma once

#include <filesystem>

#include "db/stores/ballast.h"
#include "db/stores/write_lock.h"
#include "db/stores/writer.h"
#include "shared/base/clock.h"

namespace starling::db {

// Patience with other processes, and the space to hold in reserve, in bytes.
struct FileWriterOptions {
  Duration lock_patience = from_ms(5'000);  // for another process's commit
  std::int64_t ballast_bytes = 0;
};

class FileWriter final : public Writer {
 public:
  FileWriter(std::filesystem::path file, Connection connection, WriteLock lock, const FileWriterOptions& options = {});

  Status write(const Work& work) override;
  bool make_room() override;
  // Keeps the WAL short: it is moved into the file when it has grown, and emptied when nobody writes.
  Status tidy(bool idle) override;
  [[nodiscard]] bool untidy() const override { return wal_dirty_; }
  [[nodiscard]] const std::string& name() const override { return connection_.name(); }

 private:
  [[nodiscard]] std::int64_t wal_bytes() const;

  const std::filesystem::path file_;
  const FileWriterOptions options_;
  SystemClock clock_;
  Connection connection_;
  WriteLock lock_;
  Ballast ballast_;
  bool wal_dirty_ = true;
  TimePoint next_truncate_{};
};

}  // namespace starling::db
