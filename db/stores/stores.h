// The typed stores: questions and orders that the coordinator may give its database. Every call may be made from any
// thread. Reads see the last commit. Writes return after their commit reached the disk (some 10-20 ms, shared with the
// other writes of that moment): an ok() is a promise that survives a power cut.
// Common errors: resource_exhausted (disk or write queue full: answer 503/507, reads go on), corrupt (the message names
// the file), unavailable (the database is closing).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "db/stores/credit_stores.h"
#include "db/stores/login_stores.h"
#include "db/stores/operator_stores.h"
#include "db/stores/records.h"
#include "db/stores/stats_store.h"
#include "db/stores/team_stores.h"
#include "shared/base/result.h"

namespace starling::db {

// permission_denied unless `shown` equals `kept`, both hashes: the device token shown now, and the one with which the
// host joined. A host that joined without a token may show any or none.
Status check_device_token(const std::optional<Digest>& kept, const std::optional<Digest>& shown);

// Accounts and their computers.
class AccountStore {
 public:
  virtual ~AccountStore() = default;
  // Creates account and host and spends one use of the invite: all of it or nothing. A host that is known already gets
  // its account again and spends nothing, so the request may be repeated when the answer was lost. already_exists: the
  // name is taken. unauthenticated: no such invite. permission_denied: the invite is expired or used up, the host is
  // revoked, or it joined by another device token. A code that links a computer makes no account. Also
  // permission_denied: the account has as many computers as it may have; those that its owner took out do not count.
  virtual Result<AccountId> join(const JoinRequest& request) = 0;
  virtual Result<Account> find_account(AccountId id) const = 0;                           // or not_found
  virtual Result<Account> find_account_named(const std::string& display_name) const = 0;  // or not_found
  virtual Result<Host> find_host(const PeerId& peer) const = 0;                           // or not_found
  virtual Result<std::vector<Host>> hosts_of(AccountId id) const = 0;
  // Notes that the host was heard from, to the minute. Returns at once and promises nothing.
  virtual Status touch_host(const PeerId& peer, WallTime now) = 0;
  // or not_found. permission_denied: an owner cannot let in what the project took out, nor more computers than the
  // account may have (`hosts_max` as in JoinRequest).
  virtual Status set_revoked(const PeerId& peer, bool revoked, Revoker by, std::int64_t hosts_max = 0) = 0;
  // Grows whenever hosts are revoked or let in again.
  virtual Result<std::int64_t> revocations() const = 0;
  // Returns how many accounts are established, but at most `enough`.
  virtual Result<std::int64_t> established(std::int64_t enough) const = 0;
};

// Invites. They are spent by AccountStore::join alone.
class InviteStore {
 public:
  virtual ~InviteStore() = default;
  virtual Status add(const Invite& invite) = 0;                          // or already_exists
  virtual Result<Invite> find(const Digest& token_hash) const = 0;       // or not_found
  virtual Result<std::vector<Invite>> list(const Page& page) const = 0;  // newest first
  virtual Status withdraw(const Digest& token_hash, WallTime now) = 0;   // expires now; or not_found
};

// Runs and the rounds that they have decided. A run is never deleted, since the ledger refers to it.
class RunStore {
 public:
  virtual ~RunStore() = default;
  virtual Status create(const Run& run) = 0;                          // or already_exists
  virtual Result<Run> find(const RunId& run_id) const = 0;            // or not_found
  virtual Result<std::vector<Run>> list() const = 0;                  // oldest first; at most kPageRowsMax
  virtual Status set_state(const RunId& run_id, RunState state) = 0;  // or not_found
  virtual Status retire(const RunId& run_id, WallTime now) = 0;       // for good; or not_found
  // Replaces the signature on the run's manifest; or not_found.
  virtual Status set_envelope(const RunId& run_id, const std::string& envelope) = 0;
  // Newest first.
  virtual Result<std::vector<RoundRecord>> rounds(const RunId& run_id, const Page& page) const = 0;
};

// Everything that a decided round changes, written in one transaction.
struct RoundResult {
  RoundRecord record;
  std::vector<Contribution> contributions;
  std::vector<CountedSamples> counted{};
  std::optional<SeatedGroup> successor{};  // group that may decide the next round
  std::vector<AccountId> confirmed{};      // accounts, each once, whose work in the round another account confirmed
};

// The lines that a call added. A repeated call adds none.
struct AppendOutcome {
  int inserted = 0;    // number of new ledger lines
  int duplicates = 0;  // number of lines whose (run, round, peer) the ledger had already: nothing was added for them
};

// The ledger: one line for each credited contribution, never changed or removed.
class ContributionStore {
 public:
  using Appended = std::function<void(Result<AppendOutcome>)>;
  virtual ~ContributionStore() = default;
  // Round, ledger lines, totals, counted samples, the successor's seats and the run's round counter change together.
  // Leases that end with this round are deleted, and so are groups of earlier rounds. Idempotent: lines that are in the
  // ledger already stay unchanged and count once.
  virtual Result<AppendOutcome> append(const RoundResult& result) = 0;
  // append() without waiting: `done` is called once, from the writer's thread, after the commit or the
  // failure; it must be quick and must not call the stores' writes. An error here means `done` is not called.
  virtual Status append_async(RoundResult result, Appended done) = 0;
  // The lines of a round, without reversals.
  virtual Result<std::vector<Contribution>> of_round(const RunId& run_id, RoundIndex round) const = 0;
  // Sum of the ledger itself, not of the totals kept beside it.
  virtual Result<Totals> ledger_sum(const RunId& run_id) const = 0;
  // corrupt, with the first difference, unless every kept total equals the sum of its ledger lines.
  virtual Status verify_totals() const = 0;
  virtual Result<std::vector<LedgerEntry>> entries_of(AccountId account, const Page& page) const = 0;  // newest first
};

constexpr std::int64_t kClaimsKeptMs = std::int64_t{90} * 24 * 3'600'000;

// Samples that were claimed and not credited in the last ninety days.
class ClaimStore {
 public:
  virtual ~ClaimStore() = default;
  // Adds the one claim of a computer in a round; a repeated one is ignored. Claims that are too old are deleted.
  virtual Status add(const UnconfirmedClaim& claim) = 0;
  virtual Result<ClaimSums> of(AccountId account) const = 0;
  virtual Result<std::vector<UnconfirmedClaim>> list(const Page& page) const = 0;  // newest first
};

// Measurements on the held-out data, over the rounds of a run.
class EvaluationStore {
 public:
  virtual ~EvaluationStore() = default;
  // One figure per (run, round, peer); a repeated one is ignored.
  virtual Status add(const Evaluation& evaluation, const PeerId& measured_by) = 0;
  virtual Result<std::vector<Evaluation>> list(const RunId& run_id, const Page& page) const = 0;  // newest first
  virtual Result<std::optional<Evaluation>> first(const RunId& run_id) const = 0;
  virtual Result<std::optional<Evaluation>> latest(const RunId& run_id) const = 0;
};

// The lanes of a run's members, kept so that a restarted coordinator deals them alike.
class LaneStore {
 public:
  virtual ~LaneStore() = default;
  // Assigns all or none, in this order. A peer's own lane is replaced; the peer that held the lane before has none any
  // more.
  virtual Status assign(const RunId& run_id, const std::vector<Lane>& lanes) = 0;
  virtual Result<std::vector<Lane>> list(const RunId& run_id) const = 0;
};

// Samples that are leased, counted or set aside (coordinator/core/lease_book.h). They are counted by
// ContributionStore::append.
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;
  // Adds all or none. epoch_samples: samples in each epoch of the run. already_exists when the peer holds such a
  // number.
  virtual Status add(const RunId& run_id, SampleCount epoch_samples, const std::vector<LeasedSamples>& leases) = 0;
  virtual Result<std::vector<LeasedSamples>> held(const RunId& run_id) const = 0;  // by peer and number
  // Adds all or none; known ones are fine. Tries of epochs before `oldest_epoch` are deleted.
  virtual Status add_tried(const RunId& run_id, const std::vector<SampleTried>& tries, std::int64_t oldest_epoch) = 0;
  virtual Result<std::vector<SampleTried>> tried(const RunId& run_id) const = 0;
  // The sample is not waited for any more, and its tries are deleted. Ok when it is set aside already.
  virtual Status set_aside(const RunId& run_id, const SampleSetAside& sample) = 0;
  virtual Result<std::vector<SampleSetAside>> all_set_aside(const RunId& run_id, const Page& page) const = 0;  // newest
  virtual Result<std::int64_t> count_set_aside(const RunId& run_id) const = 0;
  // Epochs of which samples are still neither counted nor set aside.
  virtual Result<std::vector<EpochProgress>> open_epochs(const RunId& run_id) const = 0;
  // The number after the last epoch from which anything was leased.
  virtual Result<std::int64_t> next_epoch(const RunId& run_id) const = 0;
  virtual Result<std::vector<CountedSamples>> counted(const RunId& run_id, std::int64_t epoch) const = 0;
};

// Groups that may decide a round, from the round before the current one on (coordinator/core/electorate.h).
// ContributionStore::append adds successors, and removes groups that are no longer needed.
class ElectorateStore {
 public:
  virtual ~ElectorateStore() = default;
  virtual Status add(const RunId& run_id, const SeatedGroup& group) = 0;         // ok when it is there already
  virtual Result<std::vector<SeatedGroup>> list(const RunId& run_id) const = 0;  // by round
};

// The files that the project serves by their digests.
class ArtefactStore {
 public:
  virtual ~ArtefactStore() = default;
  virtual Status add(const ArtefactRecord& artefact) = 0;               // ok when it is there already
  virtual Result<ArtefactRecord> find(const Digest& digest) const = 0;  // or not_found
  virtual Result<std::vector<ArtefactRecord>> list() const = 0;
};

// The newest two copies of each run's state.
class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  // Also makes the file an artefact. Returns the artefacts that are none any more: their files may be deleted.
  virtual Result<std::vector<Digest>> keep(const KeptCheckpoint& checkpoint) = 0;
  virtual Result<std::optional<KeptCheckpoint>> newest(const RunId& run_id) const = 0;
};

// References into one Database, which must outlive them.
struct Stores {
  AccountStore& accounts;
  InviteStore& invites;
  RunStore& runs;
  ContributionStore& contributions;
  ClaimStore& claims;
  EvaluationStore& evaluations;
  LaneStore& lanes;
  LeaseStore& leases;
  ElectorateStore& electorates;
  ArtefactStore& artefacts;
  CheckpointStore& checkpoints;
  StandingsStore& standings;
  CreditStore& credit;
  NewsStore& news;
  BanStore& bans;
  LoginStore& logins;
  SessionStore& sessions;
  AccountKeeper& keeper;
  TeamStore& teams;
  SettingStore& settings;
  AuditStore& audit;
  OperatorStore& operators;
  StatsStore& stats;
};

}  // namespace starling::db
