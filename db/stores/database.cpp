#include "db/stores/database.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "db/schema/migrate.h"
#include "db/stores/reader_pool.h"
#include "db/stores/sqlite_credit.h"
#include "db/stores/sqlite_logins.h"
#include "db/stores/sqlite_operator.h"
#include "db/stores/sqlite_stats.h"
#include "db/stores/sqlite_stores.h"
#include "db/stores/sqlite_teams.h"
#include "db/stores/write_lock.h"
#include "db/stores/write_queue.h"
#include "shared/base/files.h"
#include "shared/base/os_error.h"

namespace starling::db {
namespace {

constexpr std::uintmax_t kCheckAtOpenBytesMax = 64 * 1024 * 1024;  // larger files are checked on demand
constexpr Duration kOpenPatience = from_ms(10'000);                // for another process's write

// Made empty and private first: the files that SQLite puts beside it take over its permissions.
Status create_private(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return os_error("create database", file, errno);
  ::close(fd);
  return {};
}

Status expect_sound(Connection& connection, std::string_view pragma) {
  STARLING_ASSIGN(Statement check, connection.prepare(pragma));
  STARLING_TRY(check.step().status());
  if (check.text(0) == "ok") return {};
  return Error{ErrorCode::corrupt,
               fmt::format("database '{}' is damaged ({}); it is left as it is: restore a backup beside it",
                           connection.file().string(), check.text(0))};
}

Result<Connection> open_writer(const std::filesystem::path& file, const DatabaseOptions& options) {
  if (options.create && options.vfs.empty()) STARLING_TRY(create_private(file));
  ConnectionOptions settings{.mode = options.create ? OpenMode::create : OpenMode::read_write, .vfs = options.vfs};
  STARLING_ASSIGN(Connection connection, Connection::open(file, settings));
  STARLING_TRY(migrate(connection));
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  if (!unknown && size <= kCheckAtOpenBytesMax) STARLING_TRY(expect_sound(connection, "PRAGMA quick_check(1)"));
  return connection;
}

std::filesystem::path with_suffix(std::filesystem::path file, std::string_view suffix) { return file += suffix; }

}  // namespace

struct Database::Parts {
  Parts(Connection connection, WriteLock lock, const DatabaseOptions& options)
      : file(connection.file()),
        readers(file, options.vfs, options.readers_max),
        writes(std::move(connection), std::move(lock),
               {.commit_interval = options.commit_interval,
                .ballast_bytes = options.ballast_bytes,
                .on_fatal = options.on_fatal}) {}

  std::filesystem::path file;
  ReaderPool readers;
  WriteQueue writes;
  Access access{readers, writes};
  SqliteAccountStore accounts{access};
  SqliteInviteStore invites{access};
  SqliteRunStore runs{access};
  SqliteContributionStore contributions{access};
  SqliteEvaluationStore evaluations{access};
  SqliteLeaderboard leaderboard{access};
  SqliteCheckpointStore checkpoints{access};
  SqliteLaneStore lanes{access};
  SqliteArtefactStore artefacts{access};
  SqliteStandingsStore standings{access};
  SqliteCreditStore credit{access};
  SqliteNewsStore news{access};
  SqliteBanStore bans{access};
  SqliteLoginStore logins{access};
  SqliteSessionStore sessions{access};
  SqliteAccountKeeper keeper{access};
  SqliteTeamStore teams{access};
  SqliteSettingStore settings{access};
  SqliteAuditStore audit{access};
  SqliteOperatorStore operators{access};
  SqliteStatsStore stats{access};
  Stores stores{accounts,  invites,     runs,      contributions, evaluations, leaderboard, lanes,
                artefacts, checkpoints, standings, credit,        news,        bans,        logins,
                sessions,  keeper,      teams,     settings,      audit,       operators,   stats};
};

Database::Database(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file, const DatabaseOptions& options) {
  std::error_code unknown;
  if (!options.create && options.vfs.empty() && !std::filesystem::exists(file, unknown)) {
    return Error{ErrorCode::not_found, fmt::format("open database '{}': there is no such file", file.string())};
  }
  STARLING_ASSIGN(WriteLock lock, WriteLock::open(with_suffix(file, ".lock")));
  auto opened = [&]() -> Result<Connection> {
    STARLING_ASSIGN(const WriteLock::Held held, lock.acquire(kOpenPatience));
    return open_writer(file, options);
  }();
  if (!opened) return opened.error();
  auto parts = std::make_unique<Parts>(std::move(opened).value(), std::move(lock), options);
  return std::unique_ptr<Database>(new Database(std::move(parts)));
}

const Stores& Database::stores() const { return parts_->stores; }

DatabaseHealth Database::health() const {
  const WriteStats stats = parts_->writes.stats();
  const auto size = [](const std::filesystem::path& file) {
    std::error_code missing;
    const auto bytes = std::filesystem::file_size(file, missing);
    return missing ? 0 : static_cast<std::int64_t>(bytes);
  };
  return {stats.commits, stats.writes, size(parts_->file), size(with_suffix(parts_->file, "-wal")), stats.disk_full};
}

Status Database::check() const {
  {
    STARLING_ASSIGN(ReaderPool::Lease reader, parts_->readers.acquire());
    STARLING_TRY(expect_sound(*reader, "PRAGMA integrity_check(1)"));
  }
  return parts_->contributions.verify_totals();
}

Status Database::backup(const std::filesystem::path& to) {
  std::error_code unknown;
  if (std::filesystem::exists(to, unknown)) {
    return Error{ErrorCode::already_exists, fmt::format("backup to '{}': there is such a file already", to.string())};
  }
  STARLING_TRY(create_private(to));
  {
    STARLING_ASSIGN(ReaderPool::Lease reader, parts_->readers.acquire());
    STARLING_ASSIGN(Statement copy, reader->prepare("VACUUM INTO ?"));
    STARLING_TRY(copy.bind(to.string()).run());
  }
  STARLING_TRY(sync_to_disk(to));
  return sync_to_disk(to.has_parent_path() ? to.parent_path() : std::filesystem::path("."));
}

}  // namespace starling::db
