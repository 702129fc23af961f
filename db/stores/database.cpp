#include "db/stores/database.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "db/postgres/open.h"
#include "db/schema/copy.h"
#include "db/schema/migrate.h"
#include "db/sqlite/open.h"
#include "db/stores/file_writer.h"
#include "db/stores/name_rows.h"
#include "db/stores/reader_pool.h"
#include "db/stores/server_writer.h"
#include "db/stores/sql_credit.h"
#include "db/stores/sql_logins.h"
#include "db/stores/sql_operator.h"
#include "db/stores/sql_stats.h"
#include "db/stores/sql_stores.h"
#include "db/stores/sql_teams.h"
#include "db/stores/write_lock.h"
#include "db/stores/write_queue.h"
#include "shared/base/files.h"
#include "shared/base/os_error.h"

namespace starling::db {
namespace {

constexpr std::uintmax_t kCheckAtOpenBytesMax = 64 * 1024 * 1024;  // larger files are checked on demand
constexpr Duration kOpenPatience = from_ms(10'000);                // patience with another process's write

// The file is made empty and private first: the files that SQLite puts beside it take over its permissions.
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
  return Error{ErrorCode::corrupt, fmt::format("{} is damaged ({}); it is left as it is: restore a backup beside it",
                                               connection.name(), check.text(0))};
}

Result<Connection> open_writer(const std::filesystem::path& file, const DatabaseOptions& options) {
  if (options.create && options.vfs.empty()) STARLING_TRY(create_private(file));
  const FileOptions settings{.mode = options.create ? OpenMode::create : OpenMode::read_write, .vfs = options.vfs};
  STARLING_ASSIGN(Connection connection, open_file(file, settings));
  STARLING_TRY(migrate(connection));
  STARLING_TRY(bring_names_up_to_date(connection));
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  if (!unknown && size <= kCheckAtOpenBytesMax) STARLING_TRY(expect_sound(connection, "PRAGMA quick_check(1)"));
  return connection;
}

Status vacuum_into(Connection& from, const std::filesystem::path& to) {
  STARLING_ASSIGN(Statement copy, from.prepare("VACUUM INTO ?"));
  return copy.bind(to.string()).run();
}

Status copy_to_file(Connection& from, const std::filesystem::path& to) {
  STARLING_ASSIGN(Connection file, open_file(to, {.mode = OpenMode::create}));
  STARLING_TRY(migrate(file));
  STARLING_TRY(copy_contents(from, file));
  return file.execute("PRAGMA journal_mode = DELETE");  // nothing is left beside the file
}

std::int64_t server_bytes(ReaderPool& readers) {
  auto reader = readers.acquire();
  if (!reader) return 0;
  const auto bytes = (*reader)->query_int("SELECT pg_database_size(current_database())");
  return bytes ? *bytes : 0;
}

std::filesystem::path with_suffix(std::filesystem::path file, std::string_view suffix) { return file += suffix; }

// The groups of stores.h. `stores` refers to members: nothing here may be copied or moved.
struct SqlPeople {
  Access access;
  SqlAccountStore accounts{access};
  SqlAccountKeeper keeper{access};
  SqlInviteStore invites{access};
  SqlLoginStore logins{access};
  SqlSessionStore sessions{access};
  SqlTeamStore teams{access};
  PeopleStores stores{accounts, keeper, invites, logins, sessions, teams};
};

struct SqlTraining {
  Access access;
  SqlRunStore runs{access};
  SqlContributionStore contributions{access};
  SqlEvaluationStore evaluations{access};
  SqlLaneStore lanes{access};
  SqlLeaseStore leases{access};
  SqlElectorateStore electorates{access};
  SqlStateChainStore chains{access};
  SqlArtefactStore artefacts{access};
  SqlCheckpointStore checkpoints{access};
  TrainingStores stores{runs, contributions, evaluations, lanes, leases, electorates, chains, artefacts, checkpoints};
};

struct SqlCredit {
  Access access;
  SqlStandingsStore standings{access};
  SqlCorrectionStore corrections{access};
  SqlClaimStore claims{access};
  SqlStatsStore stats{access};
  SqlWorkCheckStore checks{access};
  CreditStores stores{standings, corrections, claims, stats, checks};
};

struct SqlOperation {
  Access access;
  SqlNewsStore news{access};
  SqlBanStore bans{access};
  SqlSettingStore settings{access};
  SqlAuditStore audit{access};
  SqlOperatorStore operators{access};
  OperationStores stores{news, bans, settings, audit, operators};
};

}  // namespace

struct Database::Parts {
  Parts(ReaderPool::Open open_reader, std::unique_ptr<Writer> writer, const DatabaseOptions& options)
      : clock(options.clock == nullptr ? machine : *options.clock),
        readers(std::move(open_reader), options.readers_max),
        writes(std::move(writer), {.commit_interval = options.commit_interval, .on_fatal = options.on_fatal}) {}

  std::filesystem::path file;      // empty: it is on a server
  ServerWriter* server = nullptr;  // the writer in `writes`, whose thread alone uses it
  SystemClock machine;
  const Clock& clock;
  ReaderPool readers;
  WriteQueue writes;
  Access access{readers, writes, clock};
  SqlPeople people{access};
  SqlTraining training{access};
  SqlCredit credit{access};
  SqlOperation operation{access};
  Stores stores{people.stores, training.stores, credit.stores, operation.stores};
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
  const auto open_reader = [file, vfs = options.vfs] {
    return open_file(file, {.mode = OpenMode::read_only, .vfs = vfs});
  };
  auto writer = std::make_unique<FileWriter>(file, std::move(opened).value(), std::move(lock),
                                             FileWriterOptions{.ballast_bytes = options.ballast_bytes});
  auto parts = std::make_unique<Parts>(open_reader, std::move(writer), options);
  parts->file = file;
  return std::unique_ptr<Database>(new Database(std::move(parts)));
}

Result<std::unique_ptr<Database>> Database::connect(const std::string& url, const DatabaseOptions& options) {
  STARLING_ASSIGN(Connection connection, open_server(url, ServerRole::writer));
  if (!options.create) {
    STARLING_ASSIGN(const std::int64_t version, schema_version(connection));
    if (version == 0) {
      return Error{ErrorCode::not_found, fmt::format("{} is empty: it is not this project's", connection.name())};
    }
  }
  STARLING_TRY(migrate(connection));
  STARLING_TRY(bring_names_up_to_date(connection));
  auto writer = std::make_unique<ServerWriter>(url, std::move(connection));
  ServerWriter* server = writer.get();
  const auto open_reader = [url] { return open_server(url, ServerRole::reader); };
  auto parts = std::make_unique<Parts>(open_reader, std::move(writer), options);
  parts->server = server;
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
  if (parts_->server != nullptr)
    return {stats.commits, stats.writes, server_bytes(parts_->readers), 0, stats.disk_full};
  return {stats.commits, stats.writes, size(parts_->file), size(with_suffix(parts_->file, "-wal")), stats.disk_full};
}

Status Database::check() const {
  if (parts_->server == nullptr) {
    STARLING_ASSIGN(ReaderPool::Lease reader, parts_->readers.acquire());
    STARLING_TRY(expect_sound(*reader, "PRAGMA integrity_check(1)"));
  }
  return parts_->training.contributions.verify_totals();
}

Status Database::backup(const std::filesystem::path& to) {
  std::error_code unknown;
  if (std::filesystem::exists(to, unknown)) {
    return Error{ErrorCode::already_exists, fmt::format("backup to '{}': there is such a file already", to.string())};
  }
  STARLING_TRY(create_private(to));
  {
    STARLING_ASSIGN(ReaderPool::Lease reader, parts_->readers.acquire());
    STARLING_TRY(parts_->server != nullptr ? copy_to_file(*reader, to) : vacuum_into(*reader, to));
  }
  STARLING_TRY(sync_to_disk(to));
  return sync_to_disk(to.has_parent_path() ? to.parent_path() : std::filesystem::path("."));
}

Status Database::copy_to_server(const std::string& url) {
  STARLING_ASSIGN(Connection server, open_server(url, ServerRole::writer));
  STARLING_TRY(migrate(server));
  STARLING_ASSIGN(ReaderPool::Lease reader, parts_->readers.acquire());
  return copy_contents(*reader, server);
}

Result<bool> Database::campaign() {
  if (parts_->server == nullptr) return true;
  bool leads = false;
  STARLING_TRY(parts_->writes.run([&](Connection&) -> Status {
    STARLING_ASSIGN(leads, parts_->server->campaign());
    return {};
  }));
  return leads;
}

}  // namespace starling::db
