// The run that is being served: the pure coordinator core under one mutex, with the store behind it. Where its model is
// cut into cells, each of these has a core of its own beside it, under the same mutex, and the same threads write.
//
// Heartbeats hold the mutex for microseconds; two threads of the service write the core's store operations (one for
// rounds, one for everything else). A round is acknowledged, and a lease announced, when its commit is on the disk. The
// core bounds the writes that wait there: rounds by core::kRoundsAheadMax, lanes by the run's peers_max, evaluations
// one a turn, leases by the number that members may hold; and there is one reading of the sums for each time an
// operator took credit back.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "coordinator/api/host_table.h"
#include "coordinator/api/store_writer.h"
#include "coordinator/core/run_coordinator.h"
#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/crypto/keys.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/reach/prober.h"
#include "shared/reach/relay_types.h"

namespace starling::wire {
struct Heartbeat;
struct HeartbeatReply;
}  // namespace starling::wire

namespace starling::core {
class ReceiptBook;
}

namespace starling::api {

class ProjectSigner;

// The run as pages show it.
struct ServedRun {
  wire::RunManifest manifest;
  core::SwarmView swarm;
  core::FailingMembers failing;
  core::DeviceSums device_sums;
};

// The copy of a state that a member is sending.
struct CopyWanted {
  core::CheckpointWanted state;
  std::int64_t rollbacks = 0;  // the run's, as the service knows them
};

class RunService final : public reach::RelayRules {
 public:
  struct Parts {
    const db::Stores& stores;
    const HostTable& hosts;
    const Clock& clock;
    crypto::PublicKey manifest_key;
    // Returns the key that signs now, with the root's certificate. Empty: states of runs are not signed.
    std::function<Result<manifest::SigningKey>()> signing_key{};
  };
  // Everything in `parts` must outlive the service.
  explicit RunService(const Parts& parts, core::CoordinatorOptions options = {});
  ~RunService() override;

  // Dials members from now on to see whether others can (CoordinatorOptions::dial_back). Comes before the first
  // heartbeat.
  void dial_back_by(std::unique_ptr<reach::Prober> prober);

  // Looks at the runs in the database: picks the one to serve, and takes over the state an operator set. A run that was
  // rolled back is taken up again where the store is, as after a restart. Called at the start, too. corrupt when the
  // manifest of the run does not bear the project's signature.
  Status poll();
  // Ends this process' term as leader: nothing is served until poll(), which must not be called before it leads again,
  // and writes that wait are dropped. Members send the next leader the reports that were not acknowledged.
  void step_down() EXCLUDES(mutex_);
  // Lets the core act on time; returns when it wants that again.
  TimePoint tick();

  // not_found: another run, or none. resource_exhausted: the run is full.
  Result<wire::HeartbeatReply> heartbeat(const core::MemberIdentity& who, const wire::Heartbeat& heartbeat);

  // Takes a member's report of samples it cannot use; not_found: another run, or none.
  Status unusable_samples(const core::MemberIdentity& who, const wire::UnusableSamples& samples);

  // Returns the state of this run or cell that `peer` is sending a copy of; failed_precondition when it is not its
  // turn. The turn ends with one of the other two. Called by one request of that member at a time.
  Result<CopyWanted> checkpoint_wanted(const RunId& run_id, const PeerId& peer);
  void keep_checkpoint(const RunId& run_id, const wire::Checkpoint& checkpoint);
  void give_up_checkpoint(const RunId& run_id, const PeerId& peer);

  [[nodiscard]] std::optional<ServedRun> served() const;
  // core::RunCoordinator::devices(); empty without a run.
  [[nodiscard]] core::DevicesInUse devices() const;
  // core::RunCoordinator::numeric_classes(); empty without a run.
  [[nodiscard]] std::vector<core::ClassFigures> numeric_classes() const;
  // core::RunCoordinator::hosts(); empty without a run.
  [[nodiscard]] std::vector<swarm::Host> hosts() const;
  // The rules of the operator's relay.
  [[nodiscard]] bool may_post(const PeerId& peer) const override;
  [[nodiscard]] std::optional<reach::RelayAllowance> allowance(const PeerId& caller,
                                                               const PeerId& called) const override;

  // The signed envelope of the served run; not_found when there is none.
  [[nodiscard]] Result<std::string> envelope() const;

 private:
  struct Active;
  Status activate(const db::Run& run);
  Result<std::shared_ptr<Active>> take_up(const db::Run& run, wire::RunManifest manifest,
                                          std::shared_ptr<ProjectSigner> signer,
                                          const std::shared_ptr<core::ReceiptBook>& receipts) EXCLUDES(mutex_);
  Status take_up_cells(Active& active, const wire::RunManifest& manifest) EXCLUDES(mutex_);
  TimePoint tick(const std::shared_ptr<Active>& active, TimePoint now) REQUIRES(mutex_);
  [[nodiscard]] std::shared_ptr<Active> find(const RunId& run_id) const REQUIRES(mutex_);
  void deal_cells(const core::MemberIdentity& who, const wire::Heartbeat& heartbeat, wire::HeartbeatReply& reply)
      REQUIRES(mutex_);
  Status follow_signature(const std::shared_ptr<Active>& active, const db::Run& run) EXCLUDES(mutex_);
  Status follow_reversals(const std::shared_ptr<Active>& active) EXCLUDES(mutex_);
  void dial_back(const std::shared_ptr<Active>& active, const wire::Endpoint& at) EXCLUDES(mutex_);
  void carry_out(const std::shared_ptr<Active>& active, const std::vector<core::StoreOp>& ops);
  void store_lane(const std::shared_ptr<Active>& active, const core::LaneAssigned& assigned);
  void store_leases(const std::shared_ptr<Active>& active, const core::LeasesDealt& dealt);
  void store_completion(const std::shared_ptr<Active>& active);
  void void_credit(const std::shared_ptr<Active>& active, const core::CreditVoided& voided);
  void restart_probation(AccountId account);
  Status take_signing_key(std::shared_ptr<ProjectSigner>& signer) const;
  void store_statement(const std::shared_ptr<Active>& active, const core::ChainGrowth& growth);
  void store_round(const std::shared_ptr<Active>& active, const core::RoundDecided& round);
  [[nodiscard]] Error nothing_served() const REQUIRES(mutex_);
  void store(std::string what, StoreWriter::Write write);
  [[nodiscard]] StoreWriter::Write in_this_term(StoreWriter::Write write) const;
  void on_stored(const std::shared_ptr<Active>& active, RoundIndex round) EXCLUDES(mutex_);

  Parts parts_;
  core::CoordinatorOptions options_;
  mutable Mutex mutex_;
  std::shared_ptr<Active> active_ GUARDED_BY(mutex_);  // the mutex guards its core, too
  bool looked_ GUARDED_BY(mutex_) = false;             // in this term: it is known whether there is a run
  bool rolled_back_ = false;                           // poll() has seen it, and has not taken the run up again yet
  std::atomic<std::int64_t> terms_ = 0;                // number that have ended
  StoreWriter rounds_;                                 // declared after the members that its writes use
  StoreWriter others_;
  std::unique_ptr<reach::Prober> prober_;
};

// Returns the run to serve: `current` while it runs; else the oldest that runs; else `current`; else the newest.
// Retired ones only as `current`, and only when there is no other. Null when there is none.
const db::Run* choose_run(const std::vector<db::Run>& runs, const RunId& current);

}  // namespace starling::api
