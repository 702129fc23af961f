#include "coordinator/server/stats_export.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "coordinator/accounts/accounts.h"
#include "coordinator/web/html.h"
#include "coordinator/web/stats_files.h"
#include "shared/base/files.h"
#include "shared/base/os_error.h"
#include "shared/crypto/digest.h"
#include "shared/crypto/secrets.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

constexpr unsigned kFolderMode = 0755;

// A compressed file that is being written; finish() reports any error.
class GzipFile {
 public:
  explicit GzipFile(std::filesystem::path path) : path_(std::move(path)), file_(::gzopen(path_.c_str(), "wb")) {}
  ~GzipFile() {
    if (file_ != nullptr) ::gzclose(file_);
  }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void write(std::string_view text) {
    if (failed_ || file_ == nullptr) return;
    failed_ = ::gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) != static_cast<int>(text.size());
    if (failed_) errno_ = errno;
  }
  // The file is on disk when the call returns.
  Status finish() {
    if (file_ == nullptr) return os_error("create", path_, errno);
    const bool closed = ::gzclose(std::exchange(file_, nullptr)) == Z_OK;
    if (failed_ || !closed) return os_error("write", path_, errno_ != 0 ? errno_ : errno);
    return sync_to_disk(path_);
  }

 private:
  std::filesystem::path path_;
  gzFile file_;
  bool failed_ = false;
  int errno_ = 0;
};

// Rows of one kind, in both formats.
class Table {
 public:
  Table(const std::filesystem::path& folder, std::string_view row, std::string_view all)
      : row_(row),
        all_(all),
        xml_(folder / fmt::format("{}.gz", file_name(row, all))),
        lines_(folder / fmt::format("{}.jsonl.gz", file_name(row, all))) {
    xml_.write(fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{}>\n", all_));
  }

  struct Row {
    std::string xml;
    wire::JsonWriter json;
    void text(std::string_view name, std::string_view value) {
      xml += fmt::format(" <{0}>{1}</{0}>\n", name, web::escape(value));
      json.text(name, value);
    }
    void integer(std::string_view name, std::int64_t value) {
      xml += fmt::format(" <{0}>{1}</{0}>\n", name, value);
      json.integer(name, value);
    }
    void number(std::string_view name, double value) {
      xml += fmt::format(" <{0}>{1:.6f}</{0}>\n", name, value);
      json.number(name, value);
    }
    void earned(const db::Totals& total, const db::RecentAverage& recent) {
      number("total_credit", db::credit_of(total));
      number("expavg_credit", recent.per_day);
      integer("expavg_time", recent.at.unix_ms / 1000);
    }
  };
  template <typename Fill>
  void add(const Fill& fill) {
    Row row;
    row.json.open("", '{');
    fill(row);
    row.json.close('}');
    xml_.write(fmt::format("<{0}>\n{1}</{0}>\n", row_, row.xml));
    lines_.write(row.json.str() + "\n");
    ++count_;
  }
  Status finish() {
    xml_.write(fmt::format("</{}>\n", all_));
    STARLING_TRY(xml_.finish());
    return lines_.finish();
  }
  [[nodiscard]] std::int64_t count() const { return count_; }

  static std::string file_name(std::string_view row, std::string_view all) {
    return std::string(row) + (all.ends_with("_deleted") ? "_deleted" : "");
  }

 private:
  const std::string row_;
  const std::string all_;
  GzipFile xml_;
  GzipFile lines_;
  std::int64_t count_ = 0;
};

// An id that a volunteer has in every export and that reveals nothing about them: it is made from the project's secret.
std::string cross_project_id(const std::string& secret, AccountId account) {
  return crypto::keyed_digest(secret, fmt::format("cross-project id\n{}", account)).hex().substr(0, 32);
}

std::int64_t seconds(WallTime time) { return time.unix_ms / 1000; }

struct Tables {
  explicit Tables(const std::filesystem::path& folder)
      : users(folder, "user", "users"),
        teams(folder, "team", "teams"),
        hosts(folder, "host", "hosts"),
        users_deleted(folder, "user", "users_deleted"),
        hosts_deleted(folder, "host", "hosts_deleted") {}

  void add(const db::StatsUser& user, const std::string& secret) {
    users.add([&](Table::Row& row) {
      row.integer("id", user.id);
      row.text("name", user.name);
      row.integer("create_time", seconds(user.created));
      row.earned(user.total, user.recent);
      row.text("cpid", cross_project_id(secret, user.id));
      if (user.team != 0) row.integer("teamid", user.team);
    });
  }
  void add(const db::StatsTeam& team) {
    teams.add([&](Table::Row& row) {
      row.integer("id", team.id);
      row.text("name", team.name);
      row.integer("userid", team.founder);
      row.earned(team.total, team.recent);
      row.integer("nusers", team.members);
      row.text("founder_name", team.founder_name);
      row.integer("create_time", seconds(team.created));
    });
  }
  void add(const db::StatsHost& host) {
    hosts.add([&](Table::Row& row) {
      row.integer("id", host.id);
      if (host.owner != 0) row.integer("userid", host.owner);
      row.earned(host.total, host.recent);
      row.integer("create_time", seconds(host.created));
    });
  }
  static void add_deleted(Table& table, std::string_view name, const db::StatsDeleted& deleted) {
    table.add([&](Table::Row& row) {
      row.integer(name, deleted.id);
      row.integer("delete_time", seconds(deleted.at));
    });
  }

  Table users;
  Table teams;
  Table hosts;
  Table users_deleted;
  Table hosts_deleted;
};

Status write_files(const db::Stores& stores, const std::filesystem::path& folder, WallTime now, StatsCounts& counts) {
  STARLING_ASSIGN(const std::string secret, accounts::own_secret(stores.operation.settings));
  Tables tables(folder);
  db::StatsVisitor visitor;
  const auto with = [](auto add) {
    return [add](const auto& row) -> Status {
      add(row);
      return {};
    };
  };
  visitor.user = with([&](const db::StatsUser& user) { tables.add(user, secret); });
  visitor.team = with([&](const db::StatsTeam& team) { tables.add(team); });
  visitor.host = with([&](const db::StatsHost& host) { tables.add(host); });
  visitor.user_deleted =
      with([&](const db::StatsDeleted& user) { Tables::add_deleted(tables.users_deleted, "user_id", user); });
  visitor.host_deleted =
      with([&](const db::StatsDeleted& host) { Tables::add_deleted(tables.hosts_deleted, "host_id", host); });
  STARLING_TRY(stores.credit.stats.visit(visitor, {now.unix_ms - to_ms(kTombstoneKept)}));
  for (Table* table : {&tables.users, &tables.teams, &tables.hosts, &tables.users_deleted, &tables.hosts_deleted}) {
    STARLING_TRY(table->finish());
  }
  counts = {tables.users.count(), tables.teams.count(), tables.hosts.count(), tables.users_deleted.count()};
  return write_file_atomically(folder / web::kStatsTables,
                               fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tables>\n"
                                           " <update_time>{}</update_time>\n <nusers_total>{}</nusers_total>\n"
                                           " <nteams_total>{}</nteams_total>\n <nhosts_total>{}</nhosts_total>\n"
                                           "</tables>\n",
                                           seconds(now), counts.users, counts.teams, counts.hosts));
}

Status write_digests(const std::filesystem::path& folder) {
  std::string sums;
  for (const std::string_view name : web::stats_files()) {
    if (name == web::kStatsDigests) continue;
    STARLING_ASSIGN(const Digest digest, crypto::sha256_file(folder / name));
    sums += fmt::format("{}  {}\n", digest.hex(), name);
  }
  return write_file_atomically(folder / web::kStatsDigests, sums);
}

// Fails if anything but an export, whole or partial, is in the folder; ok when there is none.
Status check_ours(const std::filesystem::path& folder) {
  std::error_code problem;
  if (!std::filesystem::exists(folder, problem)) return {};
  if (!std::filesystem::is_directory(folder, problem)) {
    return Error{ErrorCode::failed_precondition, fmt::format("'{}' is no folder", folder.string())};
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    const auto names = web::stats_files();
    if (std::find(names.begin(), names.end(), name) != names.end() || name.starts_with(web::kStatsTables) ||
        name.starts_with(web::kStatsDigests)) {
      continue;
    }
    return Error{ErrorCode::failed_precondition,
                 fmt::format("'{}' is in '{}', which an export would replace; choose an empty folder or a new one",
                             name, folder.string())};
  }
  return {};
}

// Puts `fresh` at `folder` in one step, and removes the old folder.
Status publish(const std::filesystem::path& fresh, const std::filesystem::path& folder) {
  std::error_code problem;
  const unsigned how = std::filesystem::exists(folder, problem) ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), how) != 0) {
    return os_error("publish", folder, errno);
  }
  STARLING_TRY(sync_to_disk(folder.parent_path()));
  std::filesystem::remove_all(fresh, problem);
  return {};
}

}  // namespace

Result<StatsCounts> write_stats(const db::Stores& stores, const std::filesystem::path& folder, WallTime now) {
  const std::filesystem::path at = std::filesystem::absolute(folder).lexically_normal();
  const std::filesystem::path fresh = at.string() + ".new";
  STARLING_ASSIGN(const FileLock lock, FileLock::acquire(at.string() + ".lock"));
  STARLING_TRY(check_ours(at));
  STARLING_TRY(check_ours(fresh));
  std::error_code problem;
  std::filesystem::remove_all(fresh, problem);
  STARLING_TRY(ensure_directory(fresh, kFolderMode));
  StatsCounts counts;
  Status done = write_files(stores, fresh, now, counts);
  if (done.ok()) done = write_digests(fresh);
  if (done.ok()) done = publish(fresh, at);
  if (done.ok()) return counts;
  std::filesystem::remove_all(fresh, problem);
  return done.error();
}

}  // namespace starling::server
