// The stores in SQL. Inside db/stores only.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/stores/reader_pool.h"
#include "db/stores/stores.h"
#include "db/stores/write_queue.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::db {

// The two ways into the database that all stores share, and the time.
struct Access {
  ReaderPool& readers;
  WriteQueue& writes;
  const Clock& clock;
  [[nodiscard]] std::int64_t now_ms() const { return clock.wall_now().unix_ms; }
};

// Runs a query on a reader and turns its rows into values.
template <typename Row, typename... Values>
Result<std::vector<Row>> select(const Access& access, std::string_view sql, Result<Row> (*read)(const Statement&),
                                const Values&... values) {
  STARLING_ASSIGN(ReaderPool::Lease reader, access.readers.acquire());
  STARLING_ASSIGN(Statement statement, reader->prepare(sql));
  statement.bind(values...);
  std::vector<Row> rows;
  for (;;) {
    STARLING_ASSIGN(const bool more, statement.step());
    if (!more) return rows;
    STARLING_ASSIGN(Row row, read(statement));
    rows.push_back(std::move(row));
  }
}

// The first row, or not_found with `missing` as the message.
template <typename Row>
Result<Row> only(Result<std::vector<Row>> rows, const std::string& missing) {
  if (!rows) return rows.error();
  if (rows->empty()) return Error{ErrorCode::not_found, missing};
  return std::move(rows->front());
}

inline int limit_of(const Page& page) {
  return page.limit < 0 ? 0 : page.limit > kPageRowsMax ? kPageRowsMax : page.limit;
}
inline std::int64_t offset_of(const Page& page) { return page.offset < 0 ? 0 : page.offset; }

// One UPDATE that must hit a row: not_found with `missing` otherwise.
template <typename... Values>
Status update_one(const Access& access, std::string_view sql, const std::string& missing, const Values&... values) {
  return access.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement statement, connection.prepare(sql));
    STARLING_TRY(statement.bind(values...).run());
    if (connection.changes() == 0) return Error{ErrorCode::not_found, missing};
    return {};
  });
}

// The tables account and host, with the invites and codes that joining spends.
class SqlAccountStore final : public AccountStore {
 public:
  explicit SqlAccountStore(Access access) : access_(access) {}
  Result<AccountId> join(const JoinRequest& request) override;
  Result<Account> find_account(AccountId id) const override;
  Result<Account> find_account_named(const std::string& display_name) const override;
  Result<Host> find_host(const PeerId& peer) const override;
  Result<std::vector<Host>> hosts_of(AccountId id) const override;
  Status touch_host(const PeerId& peer, WallTime now) override;
  Status set_revoked(const PeerId& peer, bool revoked, Revoker by, std::int64_t hosts_max = 0) override;
  Result<std::int64_t> revocations() const override;
  Status restart_probation(AccountId id) override;
  Result<std::vector<Host>> revoked_since(WallTime since, std::size_t most) const override;
  Result<std::int64_t> established(std::int64_t enough) const override;

 private:
  Access access_;
  Mutex mutex_;
  std::unordered_map<PeerId, WallTime> touched_ GUARDED_BY(mutex_);  // when the store last wrote each host
  WallTime forgotten_ GUARDED_BY(mutex_);                            // when old entries were dropped last
};

// The table invite.
class SqlInviteStore final : public InviteStore {
 public:
  explicit SqlInviteStore(Access access) : access_(access) {}
  Status add(const Invite& invite) override;
  Result<Invite> find(const Digest& token_hash) const override;
  Result<std::vector<Invite>> list(const Page& page) const override;
  Status withdraw(const Digest& token_hash, WallTime now) override;

 private:
  Access access_;
};

// The tables run and round.
class SqlRunStore final : public RunStore {
 public:
  explicit SqlRunStore(Access access) : access_(access) {}
  Status create(const Run& run, const std::vector<RunId>& cells) override;
  Result<Run> find(const RunId& run_id) const override;
  Result<std::vector<Run>> list() const override;
  Status set_state(const RunId& run_id, RunState state) override;
  Status retire(const RunId& run_id, WallTime now) override;
  Status set_envelope(const RunId& run_id, const std::string& envelope) override;
  Result<std::vector<RoundRecord>> rounds(const RunId& run_id, const Page& page) const override;
  Result<Rollback> roll_back(const RollbackRequest& request) override;
  Result<std::vector<Rollback>> rollbacks(const RunId& run_id) const override;

 private:
  Access access_;
};

// The table contribution, and all sums that follow from its lines.
class SqlContributionStore final : public ContributionStore {
 public:
  explicit SqlContributionStore(Access access) : access_(access) {}
  Result<AppendOutcome> append(const RoundResult& result) override;
  Status append_async(RoundResult result, Appended done) override;
  Result<std::vector<Contribution>> of_round(const RunId& run_id, RoundIndex round) const override;
  Result<Totals> ledger_sum(const RunId& run_id) const override;
  Status verify_totals() const override;
  Result<std::vector<LedgerEntry>> entries_of(AccountId account, const Page& page) const override;

 private:
  Access access_;
};

// The table unconfirmed_claim.
class SqlClaimStore final : public ClaimStore {
 public:
  explicit SqlClaimStore(Access access) : access_(access) {}
  Status add(const UnconfirmedClaim& claim) override;
  Result<ClaimSums> of(AccountId account) const override;
  Result<std::vector<UnconfirmedClaim>> list(const Page& page) const override;

 private:
  Access access_;
};

// The table evaluation.
class SqlEvaluationStore final : public EvaluationStore {
 public:
  explicit SqlEvaluationStore(Access access) : access_(access) {}
  Status add(const Evaluation& evaluation, const PeerId& measured_by) override;
  Result<std::vector<Evaluation>> list(const RunId& run_id, const Page& page) const override;
  Result<std::optional<Evaluation>> first(const RunId& run_id) const override;
  Result<std::optional<Evaluation>> latest(const RunId& run_id) const override;

 private:
  Access access_;
};

// The table lane.
class SqlLaneStore final : public LaneStore {
 public:
  explicit SqlLaneStore(Access access) : access_(access) {}
  Status assign(const RunId& run_id, const std::vector<Lane>& lanes) override;
  Result<std::vector<Lane>> list(const RunId& run_id) const override;

 private:
  Access access_;
};

// The tables sample_lease, sample_tried and sample_set_aside, and the epochs that they refer to.
class SqlLeaseStore final : public LeaseStore {
 public:
  explicit SqlLeaseStore(Access access) : access_(access) {}
  Status add(const RunId& run_id, SampleCount epoch_samples, const std::vector<LeasedSamples>& leases) override;
  Result<std::vector<LeasedSamples>> held(const RunId& run_id) const override;
  Status add_tried(const RunId& run_id, const std::vector<SampleTried>& tries, std::int64_t oldest_epoch) override;
  Result<std::vector<SampleTried>> tried(const RunId& run_id) const override;
  Status set_aside(const RunId& run_id, const SampleSetAside& sample) override;
  Result<std::vector<SampleSetAside>> all_set_aside(const RunId& run_id, const Page& page) const override;
  Result<std::int64_t> count_set_aside(const RunId& run_id) const override;
  Result<std::vector<EpochProgress>> open_epochs(const RunId& run_id) const override;
  Result<std::int64_t> next_epoch(const RunId& run_id) const override;
  Result<std::vector<CountedSamples>> counted(const RunId& run_id, std::int64_t epoch) const override;

 private:
  Access access_;
};

// The tables seated_group and seat.
class SqlElectorateStore final : public ElectorateStore {
 public:
  explicit SqlElectorateStore(Access access) : access_(access) {}
  Status add(const RunId& run_id, const SeatedGroup& group, std::int64_t rollbacks) override;
  Result<std::vector<SeatedGroup>> list(const RunId& run_id) const override;

 private:
  Access access_;
};

// The tables state_statement and state_link.
class SqlStateChainStore final : public StateChainStore {
 public:
  explicit SqlStateChainStore(Access access) : access_(access) {}
  Status state(const RunId& run_id, const StateStatement& statement, std::int64_t rollbacks) override;
  Result<StateChain> read(const RunId& run_id) const override;

 private:
  Access access_;
};

// The table artefact.
class SqlArtefactStore final : public ArtefactStore {
 public:
  explicit SqlArtefactStore(Access access) : access_(access) {}
  Status add(const ArtefactRecord& artefact) override;
  Result<ArtefactRecord> find(const Digest& digest) const override;
  Result<std::vector<ArtefactRecord>> list() const override;

 private:
  Access access_;
};

// The table checkpoint.
class SqlCheckpointStore final : public CheckpointStore {
 public:
  explicit SqlCheckpointStore(Access access) : access_(access) {}
  Status keep(const KeptCheckpoint& checkpoint, std::int64_t rollbacks) override;
  Result<std::vector<Digest>> remove(const std::vector<KeptCheckpoint>& copies) override;
  Result<std::vector<KeptCheckpoint>> list() const override;
  Result<std::optional<KeptCheckpoint>> newest(const RunId& run_id) const override;

 private:
  Access access_;
};

}  // namespace starling::db
