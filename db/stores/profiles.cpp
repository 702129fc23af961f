// The page of one volunteer or team: SqlStandingsStore::profile().
#include <fmt/core.h>

#include "db/sql/transaction.h"
#include "db/stores/boards.h"
#include "db/stores/sql_credit.h"
#include "db/stores/tallies.h"
#include "shared/base/verify.h"

namespace starling::db {
namespace {

// log2 of an average of kRankedRecentMin credit a day, as the kept key would have it now.
std::string ranked_key(WallTime now) {
  static_assert(kRankedRecentMin == 1);
  return fmt::format("{} / {}.0", now.unix_ms, kRecentHalfLifeMs);
}

// Number of holders with a recent average above kRankedRecentMin now.
Result<std::int64_t> count_ranked(Connection& connection, const BoardSql& recent, WallTime now) {
  STARLING_ASSIGN(Statement count, connection.prepare(fmt::format("SELECT count(*) FROM {} AND {} > {}", recent.from,
                                                                  recent.recent_key, ranked_key(now))));
  STARLING_TRY(count.bind(std::string_view("")).step().status());
  return count.integer(0);
}

Result<std::vector<RunTotals>> runs_of(Connection& connection, Holder of, std::int64_t holder) {
  STARLING_ASSIGN(
      Statement read,
      connection.prepare(
          "SELECT whole.run_id, sum(CASE WHEN run.part_of IS NULL THEN t.samples ELSE 0 END), sum(t.credit), "
          "sum(p.samples), sum(p.credit) FROM tally_run AS t JOIN run ON run.number = t.run JOIN run AS whole ON "
          "whole.number = coalesce(run.part_of, run.number) LEFT JOIN pending AS p ON p.kind = ?1 AND p.holder = ?2 "
          "AND p.run = run.number WHERE t.kind = ?1 AND t.holder = ?2 GROUP BY whole.number, whole.run_id "
          "ORDER BY whole.number DESC LIMIT ?3"));
  read.bind(static_cast<int>(of), holder, kProfileRunsMax);
  std::vector<RunTotals> runs;
  for (;;) {
    STARLING_ASSIGN(const bool more, read.step());
    if (!more) return runs;
    runs.push_back({read.text(0), {read.integer(1), read.integer(2)}, {read.integer(3), read.integer(4)}});
  }
}

Result<std::vector<DayTotals>> days_of(Connection& connection, const ProfileRequest& request) {
  constexpr std::int64_t kMsPerDay = 86'400'000;
  STARLING_ASSIGN(Statement read, connection.prepare("SELECT day, samples, credit FROM tally_day WHERE kind = ? AND "
                                                     "holder = ? AND day > ? AND credit > 0 ORDER BY day"));
  read.bind(static_cast<int>(request.of), request.holder_id, request.now.unix_ms / kMsPerDay - request.days);
  std::vector<DayTotals> days;
  for (;;) {
    STARLING_ASSIGN(const bool more, read.step());
    if (!more) return days;
    days.push_back({read.integer(0), {read.integer(1), read.integer(2)}});
  }
}

}  // namespace

Result<Profile> SqlStandingsStore::profile(const ProfileRequest& request) const {
  VERIFY(request.of != Holder::computer);
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(const Transaction moment, Transaction::begin(*reader, TransactionKind::read));
  STARLING_ASSIGN(Statement read, reader->prepare(standing_sql(request.of)));
  STARLING_ASSIGN(const bool there, read.bind(std::string_view(""), request.holder_id, access_.now_ms()).step());
  if (!there) return Error{ErrorCode::not_found, "there is nobody of this number"};
  Profile profile;
  profile.standing = read_standing(read);
  const BoardSql recent = board_sql(request.of, Board::recent);
  STARLING_ASSIGN(profile.standing.rank, rank_on(*reader, recent, "", request.holder_id));
  STARLING_ASSIGN(profile.total_rank, rank_on(*reader, board_sql(request.of, Board::total), "", request.holder_id));
  STARLING_ASSIGN(profile.ranked, count_ranked(*reader, recent, request.now));
  STARLING_ASSIGN(profile.runs, runs_of(*reader, request.of, request.holder_id));
  STARLING_ASSIGN(profile.days, days_of(*reader, request));
  STARLING_ASSIGN(profile.pending, pending_of(*reader, request.of, request.holder_id));
  return profile;
}

}  // namespace starling::db
