// One run's coordinator. It knows the members present, the round in work, when a group averages, and which result
// counts. Decides without I/O: heartbeats and timers go in, replies and store operations come out.
//
// Words. The *canonical* digest names the state at the start of the current round (for round 0, the state that the
// manifest names, whatever members say); a member that holds it is *ready*, and only ready members count and are
// planned. A plan is *frozen* shortly before the batch is full, so that every member hears of it at a heartbeat before
// the group starts. A round is *decided* when most of the group's living members report one and the same result, and
// *durable* when the store has taken it; only durable rounds are acknowledged. Rounds never go back, so nothing is ever
// credited twice.
//
// Inside, Planner decides when a group averages, Judge which results count, and Dispatcher answers members (planner.h,
// judge.h, dispatcher.h).
//
// Not thread-safe: the shell calls it under one mutex.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "coordinator/core/devices_in_use.h"
#include "coordinator/core/failing_members.h"
#include "coordinator/core/numeric_classes.h"
#include "coordinator/core/types.h"
#include "shared/protocol/unusable_samples.h"
#include "shared/run/run_manifest.h"
#include "shared/swarm/runtime_model.h"

namespace starling::wire {
struct Heartbeat;
}

namespace starling::core {

struct HeartbeatDecision;

// The coordinator of one run. All its decisions are made in these calls.
class RunCoordinator {
 public:
  // `known_hosts` must outlive this object. vector_floats: length of the averaged vector.
  RunCoordinator(const wire::RunManifest& manifest, std::int64_t vector_floats, const RecoveredRun& recovered,
                 const KnownHosts& known_hosts, const CoordinatorOptions& options = {});
  ~RunCoordinator();
  RunCoordinator(const RunCoordinator&) = delete;
  RunCoordinator& operator=(const RunCoordinator&) = delete;

  HeartbeatDecision on_heartbeat(TimePoint now, WallTime wall, const MemberIdentity& who,
                                 const wire::Heartbeat& heartbeat);
  std::vector<StoreOp> on_timer(TimePoint now, WallTime wall);
  // Returns when on_timer wants to be called next; kNever while no member is present.
  [[nodiscard]] TimePoint next_deadline() const;

  // Signs a statement of the present state: the run has none yet, or the project signs with another key now.
  std::vector<StoreOp> state_again(WallTime wall);

  // The store has taken RoundDecided of this round and of all before it.
  void on_stored(RoundIndex round);
  // The store will never take this round: it is over all the same, but nobody gets credit for it.
  void on_refused(RoundIndex round);
  // Notes that a member cannot use some of its samples. Returns the rows to store; not_found: they are of another run.
  Result<std::vector<StoreOp>> on_unusable(const MemberIdentity& who, const wire::UnusableSamples& samples);
  // on_leases_stored: the store has the leases; leases that are not stored yet are not announced to members.
  // on_leases_refused: the store will never take them.
  void on_leases_stored(const LeasesDealt& dealt);
  void on_leases_refused(const LeasesDealt& dealt);
  // The store has taken back as many samples of the account, whose credit was not final.
  void on_taken_back(AccountId account, SampleCount samples);
  // Replaces the ledger's sums, which have changed otherwise: these hold all rounds that on_stored() was called for,
  // and no others.
  void set_credited(const std::vector<AccountSamples>& sums);
  // `tested` is the endpoint that a decision asked to dial; `reached`: that very member answered there.
  void on_dialled_back(TimePoint now, const wire::Endpoint& tested, bool reached);
  // True if the member should wait for calls at the operator's relay.
  [[nodiscard]] bool uses_operator_relay(const PeerId& peer) const;
  // Returns how much two may pass there; nothing unless both are members and one of them should wait there.
  [[nodiscard]] std::optional<RelayShare> operator_relay_share(const PeerId& a, const PeerId& b) const;
  // Notes a piece of a copy of the state. Returns the copy that it is this member's turn to send; nothing if it is not
  // its turn. The turn ends with on_checkpoint_kept, when the copy is complete and the store has it, or with
  // on_checkpoint_failed.
  std::optional<CheckpointWanted> on_checkpoint_piece(TimePoint now, const PeerId& peer);
  void on_checkpoint_kept(TimePoint now, const wire::Checkpoint& checkpoint);
  void on_checkpoint_failed(TimePoint now, const PeerId& peer);
  // Sets the state that the operator requests (running or paused). A complete run stays complete.
  void set_state(wire::RunState state);
  [[nodiscard]] SwarmView view(TimePoint now) const;
  [[nodiscard]] FailingMembers failing() const;
  [[nodiscard]] DeviceSums device_sums() const;
  [[nodiscard]] DevicesInUse devices() const;
  // The kinds of computers that were checked, since this process began; empty where the run's work is not checked.
  [[nodiscard]] std::vector<ClassFigures> numeric_classes() const;
  // Returns the members that hold the state and do not pause.
  [[nodiscard]] std::vector<PeerId> holders() const;
  // Returns where others can call the member; only its id where nobody can, or it is none.
  [[nodiscard]] wire::Endpoint endpoint_of(const PeerId& peer) const;
  // Returns the members with the speeds that their heartbeats report, unknown ones as with_typical_speeds(); members
  // that have not computed yet are left out. They depart as often as members have of late.
  [[nodiscard]] std::vector<swarm::Host> hosts() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::core
