#include <fmt/core.h>

#include "db/stores/sql_operator.h"
#include "shared/base/plain_text.h"

namespace starling::db {
namespace {

// Texts of older versions may not be plain.
Result<News> read_news(const Statement& row) {
  return News{row.integer(0), {row.integer(1)}, plain_line(row.text(2)), plain_lines(row.text(3))};
}

Result<Ban> read_ban(const Statement& row) {
  Ban ban;
  ban.id = row.integer(0);
  const std::string kind = row.text(1);
  for (const BanKind each : {BanKind::user, BanKind::host, BanKind::address, BanKind::team}) {
    if (kind == name_of(each)) ban.kind = each;
  }
  ban.subject = row.text(2);
  ban.reason = plain_line(row.text(3));
  ban.created = {row.integer(4)};
  ban.expires = {row.integer(5)};
  return ban;
}

// Runs one INSERT … RETURNING id.
template <typename... Values>
Result<std::int64_t> insert(const Access& access, std::string_view sql, const Values&... values) {
  std::int64_t id = 0;
  STARLING_TRY(access.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement statement, connection.prepare(sql));
    STARLING_TRY(statement.bind(values...).step().status());
    id = statement.integer(0);
    return {};
  }));
  return id;
}

}  // namespace

std::string_view name_of(BanKind kind) {
  switch (kind) {
    case BanKind::user:
      return "user";
    case BanKind::host:
      return "host";
    case BanKind::address:
      return "address";
    case BanKind::team:
      return "team";
  }
  return "";
}

Result<std::int64_t> SqlNewsStore::add(const News& news) {
  return insert(access_, "INSERT INTO news (at_ms, title, body) VALUES (?, ?, ?) RETURNING id", news.at.unix_ms,
                news.title, news.body);
}

Result<std::vector<News>> SqlNewsStore::list(int limit) const {
  return select(access_, "SELECT id, at_ms, title, body FROM news ORDER BY id DESC LIMIT ?", read_news, limit);
}

Status SqlNewsStore::remove(std::int64_t id) {
  return update_one(access_, "DELETE FROM news WHERE id = ?", fmt::format("there is no news {}", id), id);
}

Result<std::int64_t> SqlBanStore::add(const Ban& ban) {
  return insert(access_,
                "INSERT INTO ban (kind, subject, reason, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (kind, subject) DO UPDATE SET reason = excluded.reason, "
                "expires_ms = excluded.expires_ms RETURNING id",
                name_of(ban.kind), ban.subject, ban.reason, ban.created.unix_ms, ban.expires.unix_ms);
}

Result<std::vector<Ban>> SqlBanStore::list() const {
  return select(access_, "SELECT id, kind, subject, reason, created_ms, expires_ms FROM ban ORDER BY id LIMIT ?",
                read_ban, kBansMax);
}

Status SqlBanStore::remove(std::int64_t id) {
  return update_one(access_, "DELETE FROM ban WHERE id = ?", fmt::format("there is no ban {}", id), id);
}

}  // namespace starling::db
