#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "db/sql/transaction.h"
#include "db/stores/boards.h"
#include "db/stores/name_keys.h"
#include "db/stores/sql_credit.h"
#include "db/stores/tallies.h"
#include "db/stores/windows.h"
#include "shared/base/log.h"

namespace starling::db {
namespace {

constexpr std::int64_t kRollEveryMs = 5'000;

// The reads of one request, all at one moment of the database.
class Reading {
 public:
  Reading(Connection& connection, const StandingsRequest& request, std::int64_t now_ms)
      : connection_(connection), request_(request), board_(board_sql(request.of, request.board)), now_ms_(now_ms) {}

  Result<std::int64_t> count() {
    STARLING_ASSIGN(Statement count, connection_.prepare(fmt::format("SELECT count(*) FROM {}", board_.from)));
    STARLING_TRY(count.bind(request_.run_id).step().status());
    return count.integer(0);
  }

  // Holders on one page, in order.
  Result<std::vector<std::int64_t>> page() {
    const int limit = std::clamp(request_.limit, 0, kPageRowsMax);
    STARLING_ASSIGN(Statement list,
                    connection_.prepare(fmt::format("SELECT holder FROM {} ORDER BY {} LIMIT ?2 OFFSET ?3", board_.from,
                                                    board_.order)));
    list.bind(request_.run_id, limit, std::max<std::int64_t>(0, request_.offset));
    return ids(list);
  }

  // Matching holders in order; the first `ranked` of them are on the board.
  struct Matches {
    std::vector<std::int64_t> holders;
    std::int64_t ranked = 0;
  };
  Result<Matches> matches() {
    STARLING_ASSIGN(Statement find, connection_.prepare(matches_sql(request_.of, board_)));
    find.bind(request_.run_id, like_pattern(keys_of_name(request_.search).fold), kPageRowsMax, now_ms_);
    Matches matches;
    for (;;) {
      STARLING_ASSIGN(const bool more, find.step());
      if (!more) return matches;
      matches.holders.push_back(find.integer(0));
      matches.ranked += find.integer(1);
    }
  }

  Result<std::vector<std::int64_t>> named(const std::string& name) {
    STARLING_ASSIGN(Statement find, connection_.prepare(named_sql(request_.of)));
    find.bind(name, keys_of_name(name).fold);
    return ids(find);
  }

  Result<std::int64_t> rank(std::int64_t holder) { return rank_on(connection_, board_, request_.run_id, holder); }
  Result<std::int64_t> rank_after(const Ranked& ahead, std::int64_t holder) {
    return rank_behind(connection_, board_, request_.run_id, ahead, holder);
  }

  Result<Standing> standing(std::int64_t holder, std::int64_t rank) {
    STARLING_ASSIGN(Statement read, connection_.prepare(standing_sql(request_.of)));
    STARLING_TRY(read.bind(request_.run_id, holder, now_ms_).step().status());
    Standing standing = read_standing(read);
    standing.rank = rank;
    return standing;
  }

 private:
  static Result<std::vector<std::int64_t>> ids(Statement& statement) {
    std::vector<std::int64_t> holders;
    for (;;) {
      STARLING_ASSIGN(const bool more, statement.step());
      if (!more) return holders;
      holders.push_back(statement.integer(0));
    }
  }

  Connection& connection_;
  const StandingsRequest& request_;
  BoardSql board_;
  std::int64_t now_ms_;
};

Result<VolunteerTotals> read_volunteer(const Statement& row) {
  return VolunteerTotals{row.integer(0), row.text(1), {row.integer(2), row.integer(3)}};
}

Status read_page(Reading& reading, const StandingsRequest& request, Standings& standings) {
  STARLING_ASSIGN(standings.volunteers, reading.count());
  STARLING_ASSIGN(const std::vector<std::int64_t> holders, reading.page());
  std::int64_t rank = std::max<std::int64_t>(0, request.offset);
  for (const std::int64_t holder : holders) {
    STARLING_ASSIGN(Standing standing, reading.standing(holder, ++rank));
    standings.rows.push_back(std::move(standing));
  }
  return {};
}

// Reads matches in the board's order; those on no board come last.
Status read_matches(Reading& reading, const StandingsRequest& request, Standings& standings) {
  STARLING_ASSIGN(const Reading::Matches matches, reading.matches());
  const auto count = static_cast<std::int64_t>(matches.holders.size());
  standings.volunteers = count;
  const std::int64_t begin = std::clamp<std::int64_t>(request.offset, 0, count);
  const std::int64_t end = std::min(count, begin + std::clamp(request.limit, 0, kPageRowsMax));
  Ranked ahead;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t holder = matches.holders[static_cast<std::size_t>(i)];
    std::int64_t rank = 0;
    if (i < matches.ranked) {
      STARLING_ASSIGN(rank, ahead.rank == 0 ? reading.rank(holder) : reading.rank_after(ahead, holder));
      ahead = {holder, rank};
    }
    STARLING_ASSIGN(Standing standing, reading.standing(holder, rank));
    standings.rows.push_back(std::move(standing));
  }
  return {};
}

Status read_pinned(Reading& reading, const StandingsRequest& request, Standings& standings) {
  STARLING_ASSIGN(const std::vector<std::int64_t> found, reading.named(request.pinned));
  if (found.empty()) return {};
  STARLING_ASSIGN(const std::int64_t rank, reading.rank(found.front()));
  STARLING_ASSIGN(standings.pinned, reading.standing(found.front(), rank));
  return {};
}

}  // namespace

// State shared by calls of roll() and the writes they start.
struct SqlStandingsStore::Rolling {
  std::atomic<bool> under_way = false;
  std::atomic<bool> behind = true;  // true at first, so that the first call rolls
  std::atomic<std::int64_t> rolled_ms = 0;
};

SqlStandingsStore::SqlStandingsStore(Access access) : access_(access), rolling_(std::make_shared<Rolling>()) {}
SqlStandingsStore::~SqlStandingsStore() = default;

Result<Standings> SqlStandingsStore::page(const StandingsRequest& request) const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(const Transaction moment, Transaction::begin(*reader, TransactionKind::read));
  Reading reading(*reader, request, access_.now_ms());
  Standings standings;
  STARLING_TRY(request.search.empty() ? read_page(reading, request, standings)
                                      : read_matches(reading, request, standings));
  if (!request.pinned.empty()) STARLING_TRY(read_pinned(reading, request, standings));
  return standings;
}

Result<Activity> SqlStandingsStore::activity() const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(Statement sums, reader->prepare("SELECT days, count(*), sum(samples), sum(credit) FROM tally_window "
                                                  "WHERE kind = 0 AND shown = 1 AND credit > 0 GROUP BY days"));
  Activity activity;
  for (;;) {
    STARLING_ASSIGN(const bool more, sums.step());
    if (!more) return activity;
    const bool day = sums.integer(0) == 1;
    (day ? activity.volunteers_day : activity.volunteers_week) = sums.integer(1);
    (day ? activity.day : activity.week) = {sums.integer(2), sums.integer(3)};
  }
}

Result<Credited> SqlStandingsStore::credited(const RunId& run_id) const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(const Transaction moment, Transaction::begin(*reader, TransactionKind::read));
  STARLING_ASSIGN(
      Statement sums,
      reader->prepare("SELECT sum(CASE WHEN part_of IS NULL THEN samples ELSE 0 END), sum(credit), CASE WHEN ?1 = '' "
                      "THEN (SELECT count(*) FROM tally WHERE kind = 0 AND shown = 1) ELSE sum(CASE WHEN part_of IS "
                      "NULL THEN volunteers ELSE 0 END) END, count(*) FROM run WHERE ?1 = '' OR run_id = ?1 OR part_of "
                      "= (SELECT number FROM run WHERE run_id = ?1)"));
  STARLING_TRY(sums.bind(run_id).step().status());
  if (!run_id.empty() && sums.integer(3) == 0) {
    return Error{ErrorCode::not_found, fmt::format("there is no run '{}'", run_id)};
  }
  Credited credited{{sums.integer(0), sums.integer(1)}, sums.integer(2)};
  STARLING_ASSIGN(
      Statement pending,
      reader->prepare("SELECT sum(pending.samples), sum(pending.credit) FROM pending JOIN run ON run.number "
                      "= pending.run WHERE pending.kind = 0 AND (?1 = '' OR run.run_id = ?1)"));
  STARLING_TRY(pending.bind(run_id).step().status());
  credited.pending = {pending.integer(0), pending.integer(1)};
  return credited;
}

Result<Totals> SqlStandingsStore::pending(Holder of, std::int64_t holder_id) const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  return pending_of(*reader, of, holder_id);
}

// The order is that of an index, so the cost of a page depends on its rows only.
Result<std::vector<VolunteerTotals>> SqlStandingsStore::volunteers_of(const RunId& run_id, const Page& page) const {
  return select(access_,
                "SELECT t.holder, a.display_name, t.samples, t.credit FROM tally_run AS t "
                "JOIN account AS a ON a.id = t.holder WHERE t.kind = 0 AND t.shown = 1 "
                "AND t.run = (SELECT number FROM run WHERE run_id = ?) "
                "ORDER BY t.credit DESC, t.samples DESC, t.holder LIMIT ? OFFSET ?",
                read_volunteer, run_id, limit_of(page), offset_of(page));
}

Status SqlStandingsStore::roll(WallTime now) {
  const bool due = rolling_->behind || std::abs(now.unix_ms - rolling_->rolled_ms) >= kRollEveryMs;
  if (!due || rolling_->under_way.exchange(true)) return {};
  const auto rolling = rolling_;
  const auto write = [rolling, now](Connection& connection) -> Status {
    STARLING_ASSIGN(rolling->behind, roll_windows(connection, now));
    return {};
  };
  Status submitted = access_.writes.submit(write, [rolling, now](const Status& done) {
    if (!done) log_warning("sums of the last day and week: {}", done.error().message);
    rolling->rolled_ms = now.unix_ms;
    rolling->under_way = false;
  });
  if (!submitted) rolling_->under_way = false;
  return submitted;
}

}  // namespace starling::db
