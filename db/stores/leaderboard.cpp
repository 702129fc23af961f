#include <fmt/core.h>

#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

Result<LeaderboardRow> read_row(const Statement& row) {
  return LeaderboardRow{row.integer(0), row.text(1), {row.integer(2), row.integer(3)}, WallTime{row.integer(4)}};
}

Result<Totals> read_totals(const Statement& row) { return Totals{row.integer(0), row.integer(1)}; }
Result<std::int64_t> read_count(const Statement& row) { return row.integer(0); }

}  // namespace

// The order is that of an index, so the cost of a page depends on its rows only.
Result<std::vector<LeaderboardRow>> SqlLeaderboard::rows(const RunId& run_id, const Page& page) const {
  if (run_id.empty()) {
    return select(access_,
                  "SELECT t.account_id, a.display_name, t.samples, t.credit, t.last_ms FROM account_total AS t "
                  "JOIN account AS a ON a.id = t.account_id "
                  "ORDER BY t.credit DESC, t.samples DESC, t.account_id LIMIT ? OFFSET ?",
                  read_row, limit_of(page), offset_of(page));
  }
  return select(access_,
                "SELECT t.account_id, a.display_name, t.samples, t.credit, t.last_ms FROM volunteer_total AS t "
                "JOIN account AS a ON a.id = t.account_id WHERE t.run_id = ? "
                "ORDER BY t.credit DESC, t.samples DESC, t.account_id LIMIT ? OFFSET ?",
                read_row, run_id, limit_of(page), offset_of(page));
}

Result<std::int64_t> SqlLeaderboard::volunteers(const RunId& run_id) const {
  if (run_id.empty()) return only(select(access_, "SELECT count(*) FROM account_total", read_count), "");
  return only(select(access_, "SELECT volunteers FROM run WHERE run_id = ?", read_count, run_id),
              fmt::format("there is no run '{}'", run_id));
}

Result<Totals> SqlLeaderboard::totals(const RunId& run_id) const {
  if (run_id.empty()) return only(select(access_, "SELECT sum(samples), sum(credit) FROM run", read_totals), "");
  return only(select(access_, "SELECT samples, credit FROM run WHERE run_id = ?", read_totals, run_id),
              fmt::format("there is no run '{}'", run_id));
}

}  // namespace starling::db
