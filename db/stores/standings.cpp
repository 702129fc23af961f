#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "db/sql/transaction.h"
#include "db/stores/boards.h"
#include "db/stores/sql_credit.h"
#include "db/stores/windows.h"
#include "shared/base/log.h"

namespace starling::db {
namespace {

constexpr std::int64_t kRollEveryMs = 5'000;

// Reads of one request, all at one moment of the database.
class Reading {
 public:
  Reading(Connection& connection, const StandingsRequest& request)
      : connection_(connection), request_(request), board_(board_sql(request.of, request.board)) {}

  Result<std::int64_t> count() {
    STARLING_ASSIGN(Statement count, connection_.prepare(fmt::format("SELECT count(*) FROM {}", board_.from)));
    STARLING_TRY(count.bind(request_.run_id).step().status());
    return count.integer(0);
  }

  // Those on one page, in order.
  Result<std::vector<std::int64_t>> page() {
    const int limit = std::clamp(request_.limit, 0, kPageRowsMax);
    STARLING_ASSIGN(Statement list, connection_.prepare(fmt::format("SELECT {} FROM {} ORDER BY {} LIMIT ?2 OFFSET ?3",
                                                                    board_.id, board_.from, board_.order)));
    list.bind(request_.run_id, limit, std::max<std::int64_t>(0, request_.offset));
    return ids(list);
  }

  Result<std::vector<std::int64_t>> matches() {
    STARLING_ASSIGN(Statement find, connection_.prepare(matches_sql(request_.of)));
    find.bind(like_pattern(request_.search), kPageRowsMax);
    return ids(find);
  }

  Result<std::vector<std::int64_t>> named(const std::string& name) {
    STARLING_ASSIGN(Statement find, connection_.prepare(named_sql(request_.of)));
    find.bind(name);
    return ids(find);
  }

  // Walks the board from its top until all are found: some ten milliseconds for 100 000 volunteers.
  Result<std::unordered_map<std::int64_t, std::int64_t>> ranks(const std::vector<std::int64_t>& wanted) {
    std::unordered_map<std::int64_t, std::int64_t> ranks;
    for (const std::int64_t holder : wanted) ranks.emplace(holder, 0);
    std::size_t missing = ranks.size();
    STARLING_ASSIGN(Statement walk, connection_.prepare(fmt::format("SELECT {} FROM {} ORDER BY {}", board_.id,
                                                                    board_.from, board_.order)));
    walk.bind(request_.run_id);
    for (std::int64_t rank = 1; missing > 0; ++rank) {
      STARLING_ASSIGN(const bool more, walk.step());
      if (!more) break;
      const auto found = ranks.find(walk.integer(0));
      if (found == ranks.end()) continue;
      found->second = rank;
      --missing;
    }
    return ranks;
  }

  Result<Standing> standing(std::int64_t holder, std::int64_t rank) {
    STARLING_ASSIGN(Statement read, connection_.prepare(standing_sql(request_.of)));
    STARLING_TRY(read.bind(request_.run_id, holder).step().status());
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
};

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

// In the board's order; those that are on no board come last.
Status read_matches(Reading& reading, const StandingsRequest& request, Standings& standings) {
  STARLING_ASSIGN(std::vector<std::int64_t> holders, reading.matches());
  STARLING_ASSIGN(const auto ranks, reading.ranks(holders));
  const auto key = [&](std::int64_t holder) {
    const std::int64_t rank = ranks.at(holder);
    return rank == 0 ? INT64_MAX : rank;
  };
  std::stable_sort(holders.begin(), holders.end(), [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
  standings.volunteers = static_cast<std::int64_t>(holders.size());
  const auto count = static_cast<std::int64_t>(holders.size());
  const std::int64_t begin = std::clamp<std::int64_t>(request.offset, 0, count);
  const std::int64_t end = std::min(count, begin + std::clamp(request.limit, 0, kPageRowsMax));
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t holder = holders[static_cast<std::size_t>(i)];
    STARLING_ASSIGN(Standing standing, reading.standing(holder, ranks.at(holder)));
    standings.rows.push_back(std::move(standing));
  }
  return {};
}

Status read_pinned(Reading& reading, const StandingsRequest& request, Standings& standings) {
  STARLING_ASSIGN(const std::vector<std::int64_t> found, reading.named(request.pinned));
  if (found.empty()) return {};
  STARLING_ASSIGN(const auto ranks, reading.ranks(found));
  STARLING_ASSIGN(standings.pinned, reading.standing(found.front(), ranks.at(found.front())));
  return {};
}

}  // namespace

// What calls of roll() and the writes they start share.
struct SqlStandingsStore::Rolling {
  std::atomic<bool> under_way = false;
  std::atomic<bool> behind = true;  // so that the first call rolls
  std::atomic<std::int64_t> rolled_ms = 0;
};

SqlStandingsStore::SqlStandingsStore(Access access) : access_(access), rolling_(std::make_shared<Rolling>()) {}
SqlStandingsStore::~SqlStandingsStore() = default;

Result<Standings> SqlStandingsStore::page(const StandingsRequest& request) const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(const Transaction moment, Transaction::begin(*reader, TransactionKind::read));
  Reading reading(*reader, request);
  Standings standings;
  STARLING_TRY(request.search.empty() ? read_page(reading, request, standings)
                                      : read_matches(reading, request, standings));
  if (!request.pinned.empty()) STARLING_TRY(read_pinned(reading, request, standings));
  return standings;
}

Result<Activity> SqlStandingsStore::activity() const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(Statement sums, reader->prepare("SELECT days, count(*), sum(samples), sum(credit) FROM window_total "
                                                  "WHERE credit > 0 GROUP BY days"));
  Activity activity;
  for (;;) {
    STARLING_ASSIGN(const bool more, sums.step());
    if (!more) return activity;
    const bool day = sums.integer(0) == 1;
    (day ? activity.volunteers_day : activity.volunteers_week) = sums.integer(1);
    (day ? activity.day : activity.week) = {sums.integer(2), sums.integer(3)};
  }
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
