#include <fmt/core.h>

#include <memory>
#include <utility>

#include "db/sql/transaction.h"
#include "db/stores/electorate_rows.h"
#include "db/stores/finality.h"
#include "db/stores/rollback_rows.h"
#include "db/stores/sql_stores.h"
#include "db/stores/state_chain_rows.h"

namespace starling::db {
namespace {

// Returns whether the round is new.
Result<bool> insert_round(Connection& connection, const RoundRecord& record) {
  STARLING_ASSIGN(
      Statement insert,
      connection.prepare("INSERT INTO round (run_id, round, group_id, decided_at_ms, samples, state_digest, "
                         "survivors, duration_ms, loss) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
                         "ON CONFLICT DO NOTHING"));
  STARLING_TRY(insert
                   .bind(record.run_id, record.round, record.group_id, record.decided_at.unix_ms, record.samples,
                         record.state_digest, record.survivors, record.duration_ms, record.loss)
                   .run());
  const bool is_new = connection.changes() > 0;
  STARLING_ASSIGN(Statement advance, connection.prepare("UPDATE run SET round = ?1 WHERE run_id = ?2 AND round < ?1"));
  STARLING_TRY(advance.bind(record.round + 1, record.run_id).run());
  return is_new;
}

Status count_confirmed(Connection& connection, const std::vector<AccountId>& accounts) {
  STARLING_ASSIGN(Statement count, connection.prepare("UPDATE account SET confirmed = confirmed + 1 WHERE id = ? AND "
                                                      "confirmed < ? AND state <> 'anonymous'"));
  for (const AccountId account : accounts) STARLING_TRY(count.bind(account, kConfirmedEnough).run());
  return {};
}

// Records which samples the lines stand for, and deletes leases that are over by this round.
Status count_samples(Connection& connection, const RoundResult& result) {
  const RunId& run_id = result.record.run_id;
  STARLING_ASSIGN(Statement insert,
                  connection.prepare("INSERT INTO sample_counted (run, epoch, first_sample, samples, round, host) "
                                     "VALUES ((SELECT number FROM run WHERE run_id = ?), ?, ?, ?, ?, "
                                     "(SELECT id FROM host WHERE peer_id = ?)) ON CONFLICT DO NOTHING"));
  STARLING_ASSIGN(Statement sum, connection.prepare("UPDATE sample_epoch SET counted = counted + ? "
                                                    "WHERE run_id = ? AND epoch = ?"));
  for (const CountedSamples& line : result.counted) {
    STARLING_TRY(insert.bind(run_id, line.epoch, line.first, line.count, result.record.round, line.peer).run());
    if (connection.changes() > 0) STARLING_TRY(sum.bind(line.count, run_id, line.epoch).run());
  }
  STARLING_ASSIGN(Statement end, connection.prepare("DELETE FROM sample_lease WHERE run_id = ? AND last_round <= ?"));
  return end.bind(run_id, result.record.round).run();
}

// The schema's trigger adds every inserted line to the totals.
Result<AppendOutcome> append_in(Connection& connection, const RoundResult& result) {
  STARLING_TRY(expect_rollbacks(connection, result.record.run_id, result.rollbacks));
  STARLING_TRY(begin_waiting(connection, result));
  STARLING_ASSIGN(const bool new_round, insert_round(connection, result.record));
  if (new_round) STARLING_TRY(count_confirmed(connection, result.confirmed));
  STARLING_ASSIGN(Statement insert,
                  connection.prepare(
                      "INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms, team_id) "
                      "VALUES ((SELECT number FROM run WHERE run_id = ?1), ?2, (SELECT id FROM host WHERE peer_id = "
                      "?3), ?4, ?5, ?6, ?7, (SELECT team_id FROM account WHERE id = ?4 AND team_id IS NOT NULL AND NOT "
                      "EXISTS (SELECT 1 FROM ban WHERE kind = 'team' AND subject = CAST(team_id AS TEXT) AND "
                      "expires_ms > ?7))) ON CONFLICT DO NOTHING"));
  AppendOutcome outcome;
  for (const Contribution& line : result.contributions) {
    STARLING_TRY(insert
                     .bind(result.record.run_id, result.record.round, line.peer_id, line.account_id, line.samples,
                           line.credit, line.at.unix_ms)
                     .run());
    const bool is_new = connection.changes() > 0;
    (is_new ? outcome.inserted : outcome.duplicates) += 1;
  }
  STARLING_TRY(advance_final(connection, result));
  STARLING_TRY(count_samples(connection, result));
  STARLING_TRY(delete_seated_groups(connection, result.record.run_id, result.record.round));
  if (result.successor) {
    STARLING_TRY(insert_seated_group(connection, result.record.run_id, *result.successor));
  }
  if (!result.link.empty()) {
    STARLING_TRY(insert_link(connection, result.record.run_id, result.record.round, result.link));
  }
  if (result.statement) STARLING_TRY(put_statement(connection, result.record.run_id, *result.statement));
  return outcome;
}

Result<LedgerEntry> read_entry(const Statement& row) {
  LedgerEntry entry;
  entry.id = row.integer(0);
  entry.run_id = row.text(1);
  entry.round = row.integer(2);
  STARLING_TRY(row.read_id(3, entry.contribution.peer_id));
  entry.contribution.account_id = row.integer(4);
  entry.contribution.samples = row.integer(5);
  entry.contribution.credit = row.integer(6);
  entry.contribution.at = {row.integer(7)};
  return entry;
}

Result<Contribution> read_contribution(const Statement& row) {
  Contribution contribution;
  STARLING_TRY(row.read_id(0, contribution.peer_id));
  contribution.account_id = row.integer(1);
  contribution.samples = row.integer(2);
  contribution.credit = row.integer(3);
  contribution.at = {row.integer(4)};
  return contribution;
}

// Each query lists differences: a label and the two sums.
constexpr std::string_view kRunDifferences =
    "SELECT 'run ' || run.run_id, coalesce(sum(t.samples), 0), run.samples FROM run"
    " LEFT JOIN tally_run AS t ON t.kind = 0 AND t.run = run.number GROUP BY run.run_id"
    " HAVING coalesce(sum(t.samples), 0) <> run.samples OR coalesce(sum(t.credit), 0) <> run.credit"
    " OR count(t.holder) <> run.volunteers LIMIT 1";
constexpr std::string_view kTallyDifferences =
    "SELECT 'tally ' || kind || ' of ' || holder, sum(ledger), sum(kept) FROM ("
    "  SELECT 0 AS kind, account_id AS holder, samples AS ledger, 0 AS kept, credit AS ledger_credit, 0 AS kept_credit"
    "    FROM contribution"
    "  UNION ALL SELECT 1, team_id, samples, 0, credit, 0 FROM contribution WHERE team_id IS NOT NULL"
    "  UNION ALL SELECT 2, host, samples, 0, credit, 0 FROM contribution"
    "  UNION ALL SELECT kind, holder, 0, samples, 0, credit FROM tally) AS sums"
    " GROUP BY kind, holder"
    " HAVING sum(ledger) <> sum(kept) OR sum(ledger_credit) <> sum(kept_credit) LIMIT 1";
constexpr std::string_view kTallyRunDifferences =
    "SELECT 'tally ' || kind || ' of ' || holder || ' in run ' || run, sum(ledger), sum(kept) FROM ("
    "  SELECT 0 AS kind, run, account_id AS holder, samples AS ledger, 0 AS kept, credit AS ledger_credit,"
    "    0 AS kept_credit FROM contribution"
    "  UNION ALL SELECT 1, run, team_id, samples, 0, credit, 0 FROM contribution WHERE team_id IS NOT NULL"
    "  UNION ALL SELECT 2, run, host, samples, 0, credit, 0 FROM contribution"
    "  UNION ALL SELECT kind, run, holder, 0, samples, 0, credit FROM tally_run) AS sums"
    " GROUP BY kind, run, holder"
    " HAVING sum(ledger) <> sum(kept) OR sum(ledger_credit) <> sum(kept_credit) LIMIT 1";
constexpr std::string_view kTallyWindowDifferences =
    "WITH line AS (SELECT days, account_id, team_id, host, samples, credit FROM standing_window"
    "  JOIN contribution AS line ON line.id > tail AND line.id <= head"
    "  WHERE reverses IS NULL AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id))"
    " SELECT 'tally ' || kind || ' of ' || holder || ' in ' || days || ' day(s)', sum(ledger), sum(kept) FROM ("
    "  SELECT 0 AS kind, days, account_id AS holder, samples AS ledger, 0 AS kept, credit AS ledger_credit,"
    "    0 AS kept_credit FROM line"
    "  UNION ALL SELECT 1, days, team_id, samples, 0, credit, 0 FROM line WHERE team_id IS NOT NULL"
    "  UNION ALL SELECT 2, days, host, samples, 0, credit, 0 FROM line"
    "  UNION ALL SELECT kind, days, holder, 0, samples, 0, credit FROM tally_window) AS sums"
    " GROUP BY kind, days, holder"
    " HAVING sum(ledger) <> sum(kept) OR sum(ledger_credit) <> sum(kept_credit) LIMIT 1";
constexpr std::string_view kDayDifferences =
    "SELECT 'tally ' || kind || ' of ' || holder || ' on day ' || day, sum(ledger), sum(kept) FROM ("
    "  SELECT 0 AS kind, account_id AS holder, at_ms / 86400000 AS day, samples AS ledger, 0 AS kept,"
    "    credit AS ledger_credit, 0 AS kept_credit FROM contribution"
    "  UNION ALL SELECT 1, team_id, at_ms / 86400000, samples, 0, credit, 0 FROM contribution"
    "    WHERE team_id IS NOT NULL"
    "  UNION ALL SELECT kind, holder, day, 0, samples, 0, credit FROM tally_day) AS sums"
    " GROUP BY kind, holder, day"
    " HAVING sum(ledger) <> sum(kept) OR sum(ledger_credit) <> sum(kept_credit) LIMIT 1";
constexpr std::string_view kTeamVolunteerDifferences =
    "SELECT 'account ' || account_id || ' for team ' || team_id, sum(ledger), sum(kept) FROM ("
    "  SELECT team_id, account_id, samples AS ledger, 0 AS kept, credit AS ledger_credit, 0 AS kept_credit"
    "    FROM contribution WHERE team_id IS NOT NULL"
    "  UNION ALL SELECT team_id, account_id, 0, samples, 0, credit FROM team_volunteer) AS sums"
    " GROUP BY team_id, account_id"
    " HAVING sum(ledger) <> sum(kept) OR sum(ledger_credit) <> sum(kept_credit) LIMIT 1";
// Lines that are not final, by round, and the sums that are kept of them.
constexpr std::string_view kPendingDifferences =
    "SELECT 'pending tally ' || kind || ' of ' || holder || ' in run ' || run, sum(ledger), sum(kept) FROM ("
    "  SELECT kinds.kind, line.run, CASE kinds.kind WHEN 0 THEN account_id WHEN 1 THEN team_id ELSE host END AS holder,"
    "    line.samples AS ledger, 0 AS kept, line.credit AS ledger_credit, 0 AS kept_credit"
    "    FROM run JOIN contribution AS line ON line.run = run.number AND line.round >= run.final_below"
    "    CROSS JOIN (SELECT 0 AS kind UNION ALL SELECT 1 UNION ALL SELECT 2) AS kinds"
    "    WHERE kinds.kind <> 1 OR team_id IS NOT NULL"
    "  UNION ALL SELECT kind, run, holder, 0, samples, 0, credit FROM pending) AS sums"
    " GROUP BY kind, run, holder"
    " HAVING sum(ledger) <> sum(kept) OR sum(ledger_credit) <> sum(kept_credit) LIMIT 1";

constexpr std::string_view kEpochDifferences =
    "SELECT 'epoch ' || epoch || ' of run ' || run_id, sum(ledger), sum(kept) FROM ("
    "  SELECT run.run_id, epoch, line.samples AS ledger, 0 AS kept FROM sample_counted AS line"
    "    JOIN run ON run.number = line.run"
    "  UNION ALL SELECT run_id, epoch, 0, counted FROM sample_epoch) AS sums"
    " GROUP BY run_id, epoch HAVING sum(ledger) <> sum(kept) LIMIT 1";

Status expect_no_difference(Connection& connection, std::string_view sql) {
  STARLING_ASSIGN(Statement find, connection.prepare(sql));
  STARLING_ASSIGN(const bool differs, find.step());
  if (!differs) return {};
  return Error{ErrorCode::corrupt,
               fmt::format("{}: {}: the ledger says {} samples, the total says {} (or credit differs)",
                           connection.name(), find.text(0), find.integer(1), find.integer(2))};
}

}  // namespace

Result<AppendOutcome> SqlContributionStore::append(const RoundResult& result) {
  AppendOutcome outcome;
  STARLING_TRY(access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_ASSIGN(outcome, append_in(connection, result));
        return {};
      },
      WriteQueue::By::leader));
  return outcome;
}

Status SqlContributionStore::append_async(RoundResult result, Appended done) {
  auto outcome = std::make_shared<AppendOutcome>();
  const auto write = [outcome, result = std::move(result)](Connection& connection) -> Status {
    STARLING_ASSIGN(*outcome, append_in(connection, result));
    return {};
  };
  return access_.writes.submit(
      write,
      [outcome, done = std::move(done)](const Status& status) {
        done(status ? Result<AppendOutcome>(*outcome) : Result<AppendOutcome>(status.error()));
      },
      WriteQueue::By::leader);
}

Result<std::vector<Contribution>> SqlContributionStore::of_round(const RunId& run_id, RoundIndex round) const {
  return select(access_,
                "SELECT host.peer_id, line.account_id, line.samples, line.credit, line.at_ms FROM contribution AS line "
                "JOIN host ON host.id = line.host JOIN run ON run.number = line.run "
                "WHERE run.run_id = ? AND line.round = ? AND line.reverses IS NULL ORDER BY host.peer_id",
                read_contribution, run_id, round);
}

Result<Totals> SqlContributionStore::ledger_sum(const RunId& run_id) const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(Statement sum, reader->prepare("SELECT sum(samples), sum(credit) FROM contribution "
                                                 "WHERE run = (SELECT number FROM run WHERE run_id = ?)"));
  STARLING_TRY(sum.bind(run_id).step().status());
  return Totals{sum.integer(0), sum.integer(1)};
}

Status SqlContributionStore::verify_totals() const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(const Transaction view, Transaction::begin(*reader, TransactionKind::read));
  for (const std::string_view differences :
       {kTallyDifferences, kTallyRunDifferences, kTallyWindowDifferences, kRunDifferences, kDayDifferences,
        kTeamVolunteerDifferences, kPendingDifferences, kEpochDifferences}) {
    STARLING_TRY(expect_no_difference(*reader, differences));
  }
  return {};
}

Result<std::vector<LedgerEntry>> SqlContributionStore::entries_of(AccountId account, const Page& page) const {
  return select(access_,
                "SELECT line.id, run.run_id, line.round, host.peer_id, line.account_id, line.samples, line.credit, "
                "line.at_ms FROM contribution AS line JOIN run ON run.number = line.run "
                "JOIN host ON host.id = line.host WHERE line.account_id = ? ORDER BY line.id DESC LIMIT ? OFFSET ?",
                read_entry, account, limit_of(page), offset_of(page));
}

}  // namespace starling::db
