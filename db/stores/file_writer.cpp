#include "db/stores/file_writer.h"

#include <system_error>
#include <utility>

#include "db/sql/transaction.h"
#include "db/sqlite/open.h"
#include "shared/base/log.h"

namespace starling::db {
namespace {

constexpr std::int64_t kCheckpointWalBytes = 4 * 1024 * 1024;
constexpr std::int64_t kWalAlarmBytes = 64 * 1024 * 1024;
constexpr Duration kTruncateEvery = from_ms(1'000);

std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix) {
  std::filesystem::path path = file;
  path += suffix;
  return path;
}

}  // namespace

FileWriter::FileWriter(std::filesystem::path file, Connection connection, WriteLock lock,
                       const FileWriterOptions& options)
    : file_(std::move(file)),
      options_(options),
      connection_(std::move(connection)),
      lock_(std::move(lock)),
      ballast_(beside(file_, ".ballast"), options.ballast_bytes) {
  ballast_.replenish(clock_.now());
}

Status FileWriter::write(const Work& work) {
  STARLING_ASSIGN(const WriteLock::Held held, lock_.acquire(options_.lock_patience));
  STARLING_ASSIGN(Transaction transaction, Transaction::begin(connection_, TransactionKind::write));
  STARLING_TRY(work(connection_));
  STARLING_TRY(transaction.commit());
  wal_dirty_ = true;
  return {};
}

bool FileWriter::make_room() {
  if (!ballast_.release()) return false;
  log_error("the disk of '{}' is full: writing into the last reserve. Free some space now", file_.string());
  return true;
}

Status FileWriter::tidy(bool idle) {
  ballast_.replenish(clock_.now());
  const std::int64_t bytes = wal_bytes();
  const bool long_wal = bytes > kWalAlarmBytes && clock_.now() >= next_truncate_;
  if (!idle && bytes < kCheckpointWalBytes) return {};
  const Result<WriteLock::Held> held = lock_.acquire(options_.lock_patience);
  if (!held) return {};
  wal_dirty_ = false;
  Status status = checkpoint(connection_, idle || long_wal);
  if (long_wal) {
    next_truncate_ = clock_.now() + kTruncateEvery;
    if (!status)
      log_warning("'{}-wal' has grown to {} MB: a reader keeps it from being moved", file_.string(), bytes >> 20);
  }
  // unavailable: a reader is busy; the next call will do. Full: the data in the WAL is safe there.
  if (!status && (status.error().code == ErrorCode::io || status.error().code == ErrorCode::corrupt)) return status;
  return {};
}

std::int64_t FileWriter::wal_bytes() const {
  std::error_code missing;
  const auto size = std::filesystem::file_size(beside(file_, "-wal"), missing);
  return missing ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace starling::db
