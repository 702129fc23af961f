// Questions that the coordinator may ask about runs: their rounds, what members hold for them, and their files. See
// stores.h for rules that hold for every call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/stores/records.h"
#include "shared/base/result.h"

namespace starling::db {

// Runs and the rounds that they have decided. A run is never deleted, since the ledger refers to it.
class RunStore {
 public:
  virtual ~RunStore() = default;
  // Creates the run and, as runs of their own with these ids, the cells of its model; or already_exists.
  virtual Status create(const Run& run, const std::vector<RunId>& cells) = 0;
  Status create(const Run& run) { return create(run, {}); }
  virtual Result<Run> find(const RunId& run_id) const = 0;  // or not_found
  // Without cells, oldest first; at most kPageRowsMax.
  virtual Result<std::vector<Run>> list() const = 0;
  // or not_found. A run that is complete or retired (for good) has no pending credit any more: nobody would check it.
  virtual Status set_state(const RunId& run_id, RunState state) = 0;
  virtual Status retire(const RunId& run_id, WallTime now) = 0;
  // Replaces the signature on the run's manifest; or not_found.
  virtual Status set_envelope(const RunId& run_id, const std::string& envelope) = 0;
  // Newest first.
  virtual Result<std::vector<RoundRecord>> rounds(const RunId& run_id, const Page& page) const = 0;
  // Takes the run back to the state that `to_round` began with, of which a copy is kept: that copy, the round in work,
  // samples of epochs, and groups that may decide a round change together. Rounds are not numbered again, and the
  // ledger stays. not_found: no such run, or no such copy; invalid_argument: it is no earlier round;
  // failed_precondition: the run is over. Calls below that name a number of `rollbacks` are refused from now on if they
  // know of fewer.
  virtual Result<Rollback> roll_back(const RollbackRequest& request) = 0;
  virtual Result<std::vector<Rollback>> rollbacks(const RunId& run_id) const = 0;  // oldest first
};

// Everything that a decided round changes, written in one transaction.
struct RoundResult {
  RoundRecord record;
  std::vector<Contribution> contributions;
  std::vector<CountedSamples> counted{};
  std::optional<SeatedGroup> successor{};     // group that may decide the next round
  std::vector<AccountId> confirmed{};         // accounts, each once, whose work in the round another account confirmed
  std::string link{};                         // proves the new state by members' signatures; empty: none
  std::optional<StateStatement> statement{};  // takes the place of a link
  std::int64_t rollbacks = 0;                 // the run's, as the one who decided the round knows them
  RoundIndex wait = 0;         // rounds for which credit of the run waits for checks of its work; 0: final at once
  RoundIndex final_below = 0;  // lines of rounds before it are final from now on; never goes back
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
  // ledger already stay unchanged and count once. With the first round that has a `wait`, the run's credit begins to be
  // pending; what was credited before stays final. failed_precondition: the run was rolled back meanwhile.
  virtual Result<AppendOutcome> append(const RoundResult& result) = 0;
  // append() without waiting: `done` is called once, from the writer's thread, after the commit or the
  // failure; it must be quick and must not call the stores' writes. An error here means `done` is not called.
  virtual Status append_async(RoundResult result, Appended done) = 0;
  // The lines of a round, without reversals.
  virtual Result<std::vector<Contribution>> of_round(const RunId& run_id, RoundIndex round) const = 0;
  // Sum of the ledger itself, not of the totals kept beside it.
  virtual Result<Totals> ledger_sum(const RunId& run_id) const = 0;
  // corrupt, with the first difference, unless every kept total equals the sum of its ledger lines, and every pending
  // one the sum of lines that are not final.
  virtual Status verify_totals() const = 0;
  virtual Result<std::vector<LedgerEntry>> entries_of(AccountId account, const Page& page) const = 0;  // newest first
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
  // Ok when it is there already. failed_precondition unless the run has that many rollbacks.
  virtual Status add(const RunId& run_id, const SeatedGroup& group, std::int64_t rollbacks) = 0;
  virtual Result<std::vector<SeatedGroup>> list(const RunId& run_id) const = 0;  // by round
};

// Proofs of the states of runs, for members. ContributionStore::append adds links, and RunStore::roll_back a statement.
class StateChainStore {
 public:
  virtual ~StateChainStore() = default;
  // Replaces the run's statement, and removes links of rounds before it. failed_precondition unless the run has that
  // many rollbacks.
  virtual Status state(const RunId& run_id, const StateStatement& statement, std::int64_t rollbacks) = 0;
  virtual Result<StateChain> read(const RunId& run_id) const = 0;
};

// The files that the project serves by their digests.
class ArtefactStore {
 public:
  virtual ~ArtefactStore() = default;
  virtual Status add(const ArtefactRecord& artefact) = 0;               // ok when it is there already
  virtual Result<ArtefactRecord> find(const Digest& digest) const = 0;  // or not_found
  virtual Result<std::vector<ArtefactRecord>> list() const = 0;
};

// Copies of runs' states.
class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  // Also makes the file an artefact. failed_precondition unless the run has that many rollbacks.
  virtual Status keep(const KeptCheckpoint& checkpoint, std::int64_t rollbacks) = 0;
  // Returns the artefacts that are none any more: their files may be deleted. Ok for copies that are gone already.
  virtual Result<std::vector<Digest>> remove(const std::vector<KeptCheckpoint>& copies) = 0;
  virtual Result<std::vector<KeptCheckpoint>> list() const = 0;  // by run, newest first; at most kCopiesMax
  virtual Result<std::optional<KeptCheckpoint>> newest(const RunId& run_id) const = 0;

  static constexpr int kCopiesMax = 100'000;
};

// The stores of what the runs need to go on after a restart: references into one Database, which must outlive them.
struct TrainingStores {
  RunStore& runs;
  ContributionStore& contributions;
  EvaluationStore& evaluations;
  LaneStore& lanes;
  LeaseStore& leases;
  ElectorateStore& electorates;
  StateChainStore& chains;
  ArtefactStore& artefacts;
  CheckpointStore& checkpoints;
};

}  // namespace starling::db
