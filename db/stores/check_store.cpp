#include "db/stores/check_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "db/stores/sql_credit.h"

namespace starling::db {
namespace {

constexpr std::size_t kTextBytesMax = 500;
constexpr std::size_t kIdBytes = sizeof(PeerId::bytes);

std::vector<std::uint8_t> joined(const std::vector<PeerId>& peers) {
  std::vector<std::uint8_t> bytes;
  for (const PeerId& peer : peers) {
    if (bytes.size() == WorkCheckStore::kAuditorsMax * kIdBytes) break;
    bytes.insert(bytes.end(), peer.bytes.begin(), peer.bytes.end());
  }
  return bytes;
}

std::vector<PeerId> divided(const std::string& bytes) {
  std::vector<PeerId> peers(bytes.size() / kIdBytes);
  for (std::size_t i = 0; i < peers.size(); ++i) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * kIdBytes), kIdBytes, peers[i].bytes.begin());
  }
  return peers;
}

Result<WorkCheck> read_check(const Statement& row) {
  WorkCheck check;
  check.id = row.integer(0);
  check.run_id = row.text(1);
  check.round = row.integer(2);
  STARLING_TRY(row.read_id(3, check.peer_id));
  check.account_id = row.integer(4);
  check.verdict = static_cast<Verdict>(row.integer(5));
  check.auditors = divided(row.text(6));
  check.distance = row.real(7);
  check.why = row.text(8);
  check.at = {row.integer(9)};
  return check;
}

constexpr std::string_view kColumns =
    "SELECT line.id, run.run_id, line.round, host.peer_id, line.account_id, line.verdict, line.auditors, "
    "line.distance, line.why, line.at_ms FROM work_check AS line JOIN run ON run.number = line.run "
    "JOIN host ON host.id = line.host ";

Result<CheckedHost> read_host(const Statement& row) {
  CheckedHost host;
  STARLING_TRY(row.read_id(0, host.peer_id));
  host.account_id = row.integer(1);
  host.clean_in_a_row = row.integer(2);
  host.missed = row.integer(3);
  host.last_miss = row.integer(4);
  return host;
}

Result<CheckSums> read_sums(const Statement& row) { return CheckSums{row.integer(0), row.integer(1), row.integer(2)}; }

// The number and finding of the check that is stored of that run, round and computer. The number 0: there is none.
struct Found {
  std::int64_t id = 0;
  Verdict verdict = Verdict::clean;
};
Result<Found> find_same(Connection& connection, const WorkCheck& check) {
  STARLING_ASSIGN(Statement find,
                  connection.prepare("SELECT id, verdict FROM work_check WHERE run = (SELECT number FROM run WHERE "
                                     "run_id = ?) AND round = ? AND host = (SELECT id FROM host WHERE peer_id = ?)"));
  STARLING_ASSIGN(const bool there, find.bind(check.run_id, check.round, check.peer_id).step());
  if (!there) return Found{};
  return Found{find.integer(0), static_cast<Verdict>(find.integer(1))};
}

// A database stores no NaN, which a liar may well send.
double shown_distance(const WorkCheck& check) {
  return std::isnan(check.distance) ? std::numeric_limits<double>::infinity() : check.distance;
}

Result<std::int64_t> insert_check(Connection& connection, const WorkCheck& check) {
  STARLING_ASSIGN(
      Statement insert,
      connection.prepare("INSERT INTO work_check (run, round, host, account_id, verdict, auditors, distance, "
                         "why, at_ms) VALUES ((SELECT number FROM run WHERE run_id = ?), ?, (SELECT id "
                         "FROM host WHERE peer_id = ?), ?, ?, ?, ?, ?, ?) RETURNING id"));
  const std::vector<std::uint8_t> auditors = joined(check.auditors);
  STARLING_TRY(insert
                   .bind(check.run_id, check.round, check.peer_id, check.account_id, static_cast<int>(check.verdict),
                         std::span<const std::uint8_t>(auditors), shown_distance(check), bounded_text(check.why),
                         check.at.unix_ms)
                   .step()
                   .status());
  const std::int64_t id = insert.integer(0);
  STARLING_TRY(insert.step().status());
  return id;
}

Status forget(Connection& connection, std::string_view sql, std::int64_t id) {
  STARLING_ASSIGN(Statement remove, connection.prepare(sql));
  return remove.bind(id).run();
}

// Counts the check, and one less as not checked where it takes such a one's place.
Status count_check(Connection& connection, const WorkCheck& check, bool replaces) {
  const auto is = [&](Verdict verdict) { return check.verdict == verdict ? 1 : 0; };
  STARLING_ASSIGN(Statement count,
                  connection.prepare("INSERT INTO checked_host (run, host, clean, missed, unchecked, in_a_row) VALUES "
                                     "((SELECT number FROM run WHERE run_id = ?), (SELECT id FROM host WHERE peer_id "
                                     "= ?), ?, ?, ?, ?) ON CONFLICT (run, host) DO UPDATE SET "
                                     "clean = checked_host.clean + excluded.clean, "
                                     "missed = checked_host.missed + excluded.missed, "
                                     "unchecked = checked_host.unchecked + excluded.unchecked, "
                                     "in_a_row = CASE WHEN excluded.missed > 0 THEN 0 ELSE checked_host.in_a_row + "
                                     "excluded.in_a_row END"));
  return count
      .bind(check.run_id, check.peer_id, is(Verdict::clean), is(Verdict::missed),
            is(Verdict::unchecked) - (replaces ? 1 : 0), is(Verdict::clean))
      .run();
}

Status add_in(Connection& connection, const WorkCheck& check) {
  STARLING_ASSIGN(const Found same, find_same(connection, check));
  const bool replaces = same.id != 0 && same.verdict == Verdict::unchecked && check.verdict != Verdict::unchecked;
  if (same.id != 0 && !replaces) return {};
  if (replaces) STARLING_TRY(forget(connection, "DELETE FROM work_check WHERE id = ?", same.id));
  STARLING_ASSIGN(const std::int64_t id, insert_check(connection, check));
  STARLING_TRY(count_check(connection, check, replaces));
  STARLING_TRY(
      forget(connection, "DELETE FROM work_check WHERE verdict <> 1 AND id <= ?", id - WorkCheckStore::kKeptMax));
  return forget(connection, "DELETE FROM work_check WHERE verdict = 1 AND id <= ?",
                id - WorkCheckStore::kMissedKeptMax);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::clean:
      return "clean";
    case Verdict::missed:
      return "missed";
    case Verdict::unchecked:
      return "unchecked";
  }
  return "";
}

std::string bounded_text(std::string text) {
  if (text.size() <= kTextBytesMax) return text;
  std::size_t end = kTextBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text;
}

Status SqlWorkCheckStore::add(const WorkCheck& check) {
  return access_.writes.run([&](Connection& connection) { return add_in(connection, check); }, WriteQueue::By::leader);
}

Result<std::vector<WorkCheck>> SqlWorkCheckStore::list(const CheckQuery& query) const {
  const std::string sql = fmt::format("{}WHERE (?1 = '' OR run.run_id = ?1){} ORDER BY line.id DESC LIMIT ?2 OFFSET ?3",
                                      kColumns, query.missed_only ? " AND line.verdict = 1" : "");
  return select(access_, sql, read_check, query.run_id, limit_of(query.page), offset_of(query.page));
}

Result<WorkCheck> SqlWorkCheckStore::find(std::int64_t id) const {
  static const std::string sql = std::string(kColumns) + "WHERE line.id = ?";
  return only(select(access_, sql, read_check, id), fmt::format("there is no check {}, or it is too old", id));
}

Result<std::vector<CheckedHost>> SqlWorkCheckStore::standings(const RunId& run_id) const {
  return select(access_,
                "SELECT host.peer_id, host.account_id, checked.in_a_row, checked.missed, (SELECT max(miss.round) FROM "
                "work_check AS miss WHERE miss.run = checked.run AND miss.host = checked.host AND miss.verdict = 1) "
                "FROM checked_host AS checked JOIN host ON host.id = checked.host WHERE checked.run = (SELECT number "
                "FROM run WHERE run_id = ?) ORDER BY host.account_id, host.peer_id",
                read_host, run_id);
}

Result<CheckSums> SqlWorkCheckStore::sums(const RunId& run_id) const {
  return only(select(access_,
                     "SELECT sum(clean), sum(missed), sum(unchecked) FROM checked_host JOIN run ON run.number = "
                     "checked_host.run WHERE ?1 = '' OR run.run_id = ?1",
                     read_sums, run_id),
              "");
}

Result<CheckSums> SqlWorkCheckStore::sums_of(AccountId account) const {
  return only(select(access_,
                     "SELECT sum(clean), sum(missed), sum(unchecked) FROM run CROSS JOIN host JOIN checked_host AS "
                     "checked ON checked.run = run.number AND checked.host = host.id WHERE host.account_id = ?",
                     read_sums, account),
              "");
}

}  // namespace starling::db
