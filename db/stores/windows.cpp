#include "db/stores/windows.h"

#include <algorithm>
#include <vector>

namespace starling::db {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;

struct Window {
  std::int64_t days = 0;
  std::int64_t tail = 0;  // the last line that is too old
  std::int64_t head = 0;  // the last line that is in it
};

Result<std::vector<Window>> read_windows(Connection& connection) {
  std::vector<Window> windows;
  STARLING_ASSIGN(Statement read, connection.prepare("SELECT days, tail, head FROM standing_window"));
  for (;;) {
    STARLING_ASSIGN(const bool more, read.step());
    if (!more) return windows;
    windows.push_back({read.integer(0), read.integer(1), read.integer(2)});
  }
}

// Lines enter in the order of their ids and leave in that order: the first line that is young enough ends the search.
Result<std::int64_t> new_tail(Connection& connection, const Window& window, WallTime now) {
  const std::int64_t last = std::min(window.head, window.tail + kRollLinesMax);
  STARLING_ASSIGN(Statement find, connection.prepare("SELECT id FROM contribution WHERE id > ? AND id <= ? AND "
                                                     "at_ms > ? AND reverses IS NULL ORDER BY id LIMIT 1"));
  STARLING_ASSIGN(const bool found, find.bind(window.tail, last, now.unix_ms - window.days * kMsPerDay).step());
  return found ? find.integer(0) - 1 : last;
}

Result<bool> roll(Connection& connection, Window window, std::int64_t newest, WallTime now) {
  const Window before = window;
  window.head = std::max(window.head, std::min(newest, window.head + kRollLinesMax));
  if (window.head > before.head) {
    STARLING_TRY(count_in_window(connection, {window.days, before.head + 1, window.head, 1}));
  }
  STARLING_ASSIGN(window.tail, new_tail(connection, window, now));
  if (window.tail > before.tail) {
    STARLING_TRY(count_in_window(connection, {window.days, before.tail + 1, window.tail, -1}));
  }
  if (window.head == before.head && window.tail == before.tail) return false;
  STARLING_ASSIGN(Statement update, connection.prepare("UPDATE standing_window SET tail = ?, head = ? WHERE days = ?"));
  STARLING_TRY(update.bind(window.tail, window.head, window.days).run());
  return window.head < newest || window.tail == before.tail + kRollLinesMax;
}

}  // namespace

Status count_in_window(Connection& connection, const WindowLines& lines) {
  STARLING_ASSIGN(
      Statement add,
      connection.prepare(
          "WITH line AS (SELECT team_id, host, account_id, samples, credit FROM contribution AS line "
          "WHERE line.id BETWEEN ?2 AND ?3 AND line.reverses IS NULL "
          "AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id)) "
          "INSERT INTO tally_window (kind, days, holder, samples, credit, shown) "
          "SELECT 0, CAST(?1 AS BIGINT), account_id, ?4 * sum(samples), ?4 * sum(credit), 1 FROM line "
          "GROUP BY account_id UNION ALL "
          "SELECT 1, CAST(?1 AS BIGINT), team_id, ?4 * sum(samples), ?4 * sum(credit), 1 FROM line "
          "WHERE team_id IS NOT NULL GROUP BY team_id UNION ALL "
          "SELECT 2, CAST(?1 AS BIGINT), host, ?4 * sum(samples), ?4 * sum(credit), "
          "(SELECT shows_computers FROM account WHERE id = account_id) FROM line "
          "GROUP BY host, account_id HAVING true "
          "ON CONFLICT (kind, days, holder) DO UPDATE SET samples = tally_window.samples + excluded.samples, "
          "credit = tally_window.credit + excluded.credit"));
  STARLING_TRY(add.bind(lines.days, lines.first, lines.last, lines.sign).run());
  if (lines.sign > 0) return {};
  STARLING_ASSIGN(Statement tidy,
                  connection.prepare("DELETE FROM tally_window WHERE days = ? AND credit = 0 AND samples = 0"));
  return tidy.bind(lines.days).run();
}

Result<bool> roll_windows(Connection& connection, WallTime now) {
  STARLING_ASSIGN(const std::int64_t newest, connection.query_int("SELECT coalesce(max(id), 0) FROM contribution"));
  STARLING_ASSIGN(const std::vector<Window> windows, read_windows(connection));
  bool behind = false;
  for (const Window& window : windows) {
    STARLING_ASSIGN(const bool more, roll(connection, window, newest, now));
    behind = behind || more;
  }
  return behind;
}

}  // namespace starling::db
