// The simulated coordinator: the product's RunCoordinator over a store that takes a moment to become durable and loses
// writes under way when the process dies.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "coordinator/core/run_coordinator.h"
#include "shared/base/ids.h"
#include "tests/sim/options.h"
#include "tests/sim/scheduler.h"

namespace starling::wire {
struct Heartbeat;
struct HeartbeatReply;
}  // namespace starling::wire

namespace starling::sim {

// The run's tables, which survive a crash.
struct Store {
  wire::RunState state = wire::RunState::running;
  std::map<RoundIndex, core::RoundDecided> rounds;  // the ledger, by round
  std::vector<core::SeatedGroup> groups;            // those that may decide a round: of the last decided one and later
  std::map<PeerId, int> lanes;
  std::map<std::pair<PeerId, SampleCount>, core::LeasesDealt> leases;  // by holder and number, one each
  std::map<std::int64_t, SampleCount> epochs;                          // samples counted or set aside, by epoch
  std::map<AccountId, int> confirmed;                                  // confirmed rounds, by account
  std::vector<SampleTried> tried;
  std::vector<SampleSetAside> set_aside;
  RoundIndex final_below = 0;                      // credit of rounds before it is final
  std::set<std::pair<RoundIndex, PeerId>> voided;  // lines of the ledger that were taken back
  std::map<std::pair<RoundIndex, PeerId>, core::AuditStored> audits;
  core::RecoveredChain chain;
  std::map<PeerId, core::RecoveredAudits> audited;  // by computer
  std::optional<wire::Checkpoint> checkpoint;
  std::vector<float> checkpoint_state;
};

class Coordinator final : private core::KnownHosts {
 public:
  // All arguments outlive it.
  Coordinator(Scheduler& scheduler, const SwarmOptions& options, const wire::RunManifest& manifest);
  ~Coordinator() override;

  void start();
  void crash();
  [[nodiscard]] bool up() const { return core_ != nullptr; }
  void add_host(const PeerId& peer, AccountId account) { hosts_[peer] = account; }

  wire::HeartbeatReply on_heartbeat(const PeerId& from, const wire::Heartbeat& heartbeat);
  void on_unusable(const PeerId& from, const wire::UnusableSamples& samples);
  // Takes a copy of the state; it is ignored from members that were not asked.
  void on_checkpoint(const PeerId& from, const wire::Checkpoint& checkpoint, std::span<const float> state);
  [[nodiscard]] const Store& store() const { return store_; }
  // Members that hold the state and do not pause. It is up.
  [[nodiscard]] std::vector<PeerId> holders() const { return core_->holders(); }
  // Accounts that are off probation.
  [[nodiscard]] std::int64_t established_accounts() const;

  // Changes the options with which it starts, if set.
  std::function<void(core::CoordinatorOptions&)> adapt;
  // A timer has run: members may be gone.
  std::function<void()> on_timer;
  // Called when a round became durable.
  std::function<void(const core::RoundDecided&)> on_durable;
  std::function<void(const SampleSetAside&)> on_set_aside;
  // An audit's finding, or its consequence, about this member.
  std::function<void(const core::StoreOp&, const PeerId&)> on_audited;
  std::function<void(const PeerId&)> on_banned;
  std::function<void(const core::EvaluationStored&)> on_evaluated;
  std::function<void(const core::StateAdopted&)> on_adopted;
  std::function<void(const core::SeatChanged&)> on_seat_changed;

 private:
  [[nodiscard]] std::optional<AccountId> account_of(const PeerId& peer) const override;
  [[nodiscard]] core::AccountStanding standing_of(AccountId account) const override;
  [[nodiscard]] bool has_signed(const PeerId& peer, std::span<const std::uint8_t> text,
                                const PeerSignature& signature) const override;
  void take(std::vector<core::StoreOp> ops);
  [[nodiscard]] core::RecoveredLeases recovered_leases() const;
  void apply(const core::StoreOp& op);
  void take_back(const core::CreditVoided& voided);
  void extend(const core::ChainGrowth& growth);
  // Takes what audits have found; other ops are left alone.
  void apply_audit(const core::StoreOp& op);
  void arm_timer();

  Scheduler& scheduler_;
  const SwarmOptions& options_;
  const wire::RunManifest& manifest_;
  std::map<PeerId, AccountId> hosts_;
  Store store_;
  std::unique_ptr<core::RunCoordinator> core_;
  std::uint64_t incarnation_ = 0;
  TimePoint timer_ = kNever;
};

}  // namespace starling::sim
