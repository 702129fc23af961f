#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "db/sql/transaction.h"
#include "db/stores/sql_credit.h"
#include "db/stores/tallies.h"
#include "db/stores/windows.h"

namespace starling::db {
namespace {

constexpr int kLinesAtOnceMax = 10'000;            // most lines of one write, because others wait for it
constexpr double kRecentToleranceRelative = 1e-6;  // replays add in the same order, but exp() may differ

constexpr std::array<std::string_view, 3> kHolderNames = {"account", "team", "computer"};  // by Holder

// Lines that are not reversals and have none. ?1 … ?6: limit, account, first and last round, run or empty, computer.
std::string chosen_lines(const CorrectionRequest& request) {
  return fmt::format(
      "SELECT line.id, line.samples, line.credit"
      " FROM contribution AS line JOIN run ON run.number = line.run JOIN host ON host.id = line.host"
      " WHERE line.account_id = ?2 AND line.round BETWEEN ?3 AND ?4 AND (?5 = '' OR run.run_id = ?5){}{}"
      " AND line.reverses IS NULL AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id)"
      " ORDER BY line.id LIMIT ?1",
      request.peer_id ? " AND host.peer_id = ?6" : "",
      request.pending_only ? " AND line.round >= run.final_below" : "");
}

void bind_choice(Statement& statement, const CorrectionRequest& request, std::int64_t lines_max) {
  if (request.peer_id) {
    statement.bind(lines_max, request.account_id, request.round_min, request.round_max, request.run_id,
                   *request.peer_id);
  } else {
    statement.bind(lines_max, request.account_id, request.round_min, request.round_max, request.run_id);
  }
}

Result<VolunteerTotals> read_concerned(const Statement& row) {
  return VolunteerTotals{row.integer(0), row.text(1), {row.integer(2), row.integer(3)}};
}

struct Line {
  std::int64_t id = 0;
  Totals totals;
};

Result<std::vector<Line>> choose_lines(Connection& connection, const CorrectionRequest& request) {
  STARLING_ASSIGN(Statement choose, connection.prepare(chosen_lines(request)));
  bind_choice(choose, request, kLinesAtOnceMax);
  std::vector<Line> lines;
  for (;;) {
    STARLING_ASSIGN(const bool more, choose.step());
    if (!more) return lines;
    lines.push_back({choose.integer(0), {choose.integer(1), choose.integer(2)}});
  }
}

Result<std::int64_t> add_correction(Connection& connection, const CorrectionRequest& request) {
  STARLING_ASSIGN(Statement add,
                  connection.prepare("INSERT INTO correction (at_ms, reason) VALUES (?, ?) RETURNING id"));
  STARLING_TRY(add.bind(request.now.unix_ms, request.reason).step().status());
  return add.integer(0);
}

// The line leaves the windows first, while it still counts there.
Status reverse_line(Connection& connection, std::int64_t line, std::int64_t correction) {
  STARLING_ASSIGN(Statement window,
                  connection.prepare("SELECT days FROM standing_window WHERE tail < ?1 AND head >= ?1"));
  window.bind(line);
  for (;;) {
    STARLING_ASSIGN(const bool more, window.step());
    if (!more) break;
    STARLING_TRY(count_in_window(connection, {window.integer(0), line, line, -1}));
  }
  STARLING_ASSIGN(Statement add,
                  connection.prepare("INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms, "
                                     "reverses, team_id) SELECT run, round, host, account_id, -samples, -credit, "
                                     "at_ms, id, team_id "
                                     "FROM contribution WHERE id = ? RETURNING id"));
  STARLING_TRY(add.bind(line).step().status());
  const std::int64_t reversal = add.integer(0);
  STARLING_TRY(add.step().status());
  STARLING_ASSIGN(Statement note, connection.prepare("INSERT INTO reversal (contribution, correction) VALUES (?, ?)"));
  return note.bind(reversal, correction).run();
}

Status expect_same(Connection& connection, const std::string& whose, const RecentAverage& kept,
                   const RecentAverage& replayed) {
  // Both values are taken at one moment, because a correction may leave the last grant earlier than it was.
  const WallTime when = std::max(kept.at, replayed.at);
  const double a = decayed(kept, when);
  const double b = decayed(replayed, when);
  if (std::abs(a - b) <= kRecentToleranceRelative * std::max({std::abs(a), std::abs(b), 1e-6})) return {};
  return Error{ErrorCode::corrupt,
               fmt::format("{}: {}: the recent average is kept as {} and is {}", connection.name(), whose, a, b)};
}

// The sum of the totals that are kept for the run's holders of a kind.
Result<Totals> kept_in(Connection& connection, Holder of, const RunId& run_id) {
  STARLING_ASSIGN(Statement kept,
                  connection.prepare("SELECT sum(samples), sum(credit) FROM tally_run WHERE kind = ? AND "
                                     "run = (SELECT number FROM run WHERE run_id = ?)"));
  STARLING_TRY(kept.bind(static_cast<int>(of), run_id).step().status());
  return Totals{kept.integer(0), kept.integer(1)};
}

// The sum that is kept of the run's lines that are not final.
Result<Totals> pending_in(Connection& connection, const RunId& run_id) {
  STARLING_ASSIGN(Statement kept, connection.prepare("SELECT sum(samples), sum(credit) FROM pending WHERE kind = 0 AND "
                                                     "run = (SELECT number FROM run WHERE run_id = ?)"));
  STARLING_TRY(kept.bind(run_id).step().status());
  return Totals{kept.integer(0), kept.integer(1)};
}

// Corrects some lines in one write. `correction` is 0 before the first call.
Result<CorrectionOutcome> correct_some(Connection& connection, const CorrectionRequest& request,
                                       std::int64_t& correction) {
  CorrectionOutcome outcome;
  STARLING_ASSIGN(const std::vector<Line> lines, choose_lines(connection, request));
  if (lines.empty()) return outcome;
  std::int64_t noted = correction;
  if (noted == 0) {
    STARLING_ASSIGN(noted, add_correction(connection, request));
  }
  for (const Line& line : lines) {
    STARLING_TRY(reverse_line(connection, line.id, noted));
    outcome.taken_back.samples += line.totals.samples;
    outcome.taken_back.credit += line.totals.credit;
  }
  outcome.lines = static_cast<std::int64_t>(lines.size());
  STARLING_TRY(restore_tallies_of(connection, request.account_id));
  correction = noted;
  return outcome;
}

// Corrects in writes of kLinesAtOnceMax lines, of which the first notes the reason.
Result<CorrectionOutcome> correct_all(WriteQueue& writes, const CorrectionRequest& request, WriteQueue::By by) {
  CorrectionOutcome all;
  std::int64_t correction = 0;
  for (;;) {
    CorrectionOutcome some;
    std::int64_t noted = correction;
    STARLING_TRY(writes.run(
        [&](Connection& connection) -> Status {
          noted = correction;
          STARLING_ASSIGN(some, correct_some(connection, request, noted));
          return {};
        },
        by));
    correction = noted;
    if (some.lines == 0) return all;
    all.lines += some.lines;
    all.taken_back.samples += some.taken_back.samples;
    all.taken_back.credit += some.taken_back.credit;
  }
}

}  // namespace

Result<CorrectionOutcome> SqlCorrectionStore::preview(const CorrectionRequest& request) const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(Statement sum,
                  reader->prepare(fmt::format("SELECT count(*), sum(samples), sum(credit) FROM ({}) AS chosen",
                                              chosen_lines(request))));
  bind_choice(sum, request, INT64_MAX);
  STARLING_TRY(sum.step().status());
  return CorrectionOutcome{sum.integer(0), {sum.integer(1), sum.integer(2)}};
}

Result<std::vector<VolunteerTotals>> SqlCorrectionStore::concerned(const RunId& run_id, RoundIndex round_min,
                                                                   RoundIndex round_max) const {
  return select(access_,
                "SELECT account.id, account.display_name, sum(line.samples), sum(line.credit) "
                "FROM contribution AS line JOIN account ON account.id = line.account_id "
                "WHERE line.run = (SELECT number FROM run WHERE run_id = ?) AND line.round BETWEEN ? AND ? "
                "AND line.reverses IS NULL AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id) "
                "GROUP BY account.id, account.display_name ORDER BY sum(line.samples) DESC, account.id",
                read_concerned, run_id, round_min, round_max);
}

Result<CorrectionOutcome> SqlCorrectionStore::correct(const CorrectionRequest& request) {
  return correct_all(access_.writes, request, WriteQueue::By::anybody);
}

Result<CorrectionOutcome> SqlCorrectionStore::void_pending(const VoidRequest& request) {
  CorrectionRequest correction;
  correction.account_id = request.account_id;
  correction.peer_id = request.peer_id;
  correction.run_id = request.run_id;
  correction.round_min = request.from;
  correction.pending_only = true;
  correction.reason = bounded_text(request.reason);
  correction.now = request.now;
  return correct_all(access_.writes, correction, WriteQueue::By::leader);
}
Result<std::int64_t> SqlCorrectionStore::newest_reversal() const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  return reader->query_int("SELECT coalesce(max(contribution), 0) FROM reversal");
}

Result<RunAudit> SqlCorrectionStore::audit(const RunId& run_id, double micro_credit_per_sample) const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(const Transaction moment, Transaction::begin(*reader, TransactionKind::read));
  RunAudit audit;
  audit.run_id = run_id;
  // A line's credit is rounded to a whole number and bounded; the minimum and the tolerance allow for that.
  STARLING_ASSIGN(
      Statement ledger,
      reader->prepare("SELECT count(*), count(reverses), sum(samples), sum(credit), "
                      "count(*) FILTER (WHERE abs(abs(credit) - CASE WHEN abs(samples) * CAST(?2 AS DOUBLE PRECISION) "
                      "< 1e12 THEN abs(samples) * CAST(?2 AS DOUBLE PRECISION) ELSE 1e12 END) > 1) "
                      "FROM contribution WHERE run = (SELECT number FROM run WHERE run_id = ?1)"));
  STARLING_TRY(ledger.bind(run_id, micro_credit_per_sample).step().status());
  audit.lines = ledger.integer(0);
  audit.reversals = ledger.integer(1);
  audit.ledger = {ledger.integer(2), ledger.integer(3)};
  audit.misvalued = ledger.integer(4);
  STARLING_ASSIGN(Statement waiting,
                  reader->prepare("SELECT sum(samples) FILTER (WHERE waits = 0), sum(credit) FILTER (WHERE waits = 0), "
                                  "sum(samples) FILTER (WHERE waits = 1), sum(credit) FILTER (WHERE waits = 1) FROM "
                                  "(SELECT line.samples, line.credit, CASE WHEN line.round >= run.final_below THEN 1 "
                                  "ELSE 0 END AS waits FROM run JOIN contribution AS line ON line.run = run.number "
                                  "WHERE run.run_id = ?) AS lines"));
  STARLING_TRY(waiting.bind(run_id).step().status());
  audit.final_lines = {waiting.integer(0), waiting.integer(1)};
  audit.waiting = {waiting.integer(2), waiting.integer(3)};
  STARLING_ASSIGN(audit.pending, pending_in(*reader, run_id));
  STARLING_ASSIGN(audit.volunteers, kept_in(*reader, Holder::volunteer, run_id));
  STARLING_ASSIGN(audit.teams, kept_in(*reader, Holder::team, run_id));
  STARLING_ASSIGN(Statement teamless,
                  reader->prepare("SELECT sum(samples), sum(credit) FROM contribution WHERE team_id IS NULL AND run = "
                                  "(SELECT number FROM run WHERE run_id = ?)"));
  STARLING_TRY(teamless.bind(run_id).step().status());
  audit.teamless = {teamless.integer(0), teamless.integer(1)};
  return audit;
}

Status SqlCorrectionStore::verify_recent() const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(const Transaction moment, Transaction::begin(*reader, TransactionKind::read));
  return for_each_tally(*reader, [&](Holder of, std::int64_t holder, const RecentAverage& kept) -> Status {
    STARLING_ASSIGN(const RecentAverage replayed, replay_tally(*reader, of, holder));
    return expect_same(*reader, fmt::format("{} {}", kHolderNames[static_cast<std::size_t>(of)], holder), kept,
                       replayed);
  });
}

}  // namespace starling::db
