#include "tests/sim/coordinator.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/heartbeat_decision.h"
#include "shared/base/log.h"
#include "shared/base/permutation.h"
#include "shared/run/low_rank.h"
#include "tests/sim/signatures.h"
#include "tests/support/plain_signer.h"

namespace starling::sim {
namespace {

constexpr Duration kCommitTime = std::chrono::milliseconds(15);  // group commit and fsync

}  // namespace

Coordinator::Coordinator(Scheduler& scheduler, const SwarmOptions& options, const wire::RunManifest& manifest)
    : scheduler_(scheduler), options_(options), manifest_(manifest) {}
Coordinator::~Coordinator() = default;

void Coordinator::start() {
  ++incarnation_;
  timer_ = kNever;
  core::RecoveredRun recovered;
  recovered.state = store_.state;
  recovered.checkpoint = store_.checkpoint;
  if (!store_.rounds.empty()) {
    recovered.round = store_.rounds.rbegin()->first + 1;
    recovered.state_digest = store_.rounds.rbegin()->second.state_digest;
    recovered.survivors = store_.rounds.rbegin()->second.survivors;
    recovered.last_group = store_.rounds.rbegin()->second.group;
    for (const core::CreditedContribution& line : store_.rounds.rbegin()->second.contributions) {
      recovered.last_credited.push_back({line.peer, line.account});
    }
  }
  for (const auto& [round, decided] : store_.rounds) recovered.states.push_back({round + 1, decided.state_digest});
  recovered.groups = store_.groups;
  for (const auto& [peer, lane] : store_.lanes) recovered.lanes.push_back({peer, lane});
  recovered.leases = recovered_leases();
  recovered.chain = store_.chain;
  for (const auto& [peer, audits] : store_.audited) recovered.audits.push_back(audits);
  core::CoordinatorOptions options;
  options.signer = std::make_shared<ProjectKey>();
  options.checkpoints.interval = std::chrono::seconds(5);
  options.patience.restore = std::chrono::seconds(15);  // well within the calm at the end
  options.nonce = mix64(options_.seed + incarnation_);
  for (std::size_t i = 0; i < options.audit_secret.bytes.size(); ++i) {
    options.audit_secret.bytes[i] = static_cast<std::uint8_t>(mix64(options.nonce + i));
  }
  if (adapt) adapt(options);
  core_ = std::make_unique<core::RunCoordinator>(manifest_, wire::averaged_floats(manifest_), recovered,
                                                 static_cast<const core::KnownHosts&>(*this), options);
  if (store_.chain.statement.empty()) take(core_->state_again(scheduler_.wall_now()));
}

core::RecoveredLeases Coordinator::recovered_leases() const {
  core::RecoveredLeases recovered;
  for (const auto& [epoch, counted] : store_.epochs) {
    recovered.next_epoch = epoch + 1;
    if (counted < options_.epoch_samples) recovered.open_epochs.push_back(epoch);
  }
  for (const auto& [round, decided] : store_.rounds) {
    recovered.counted.insert(recovered.counted.end(), decided.counted.begin(), decided.counted.end());
  }
  recovered.set_aside = store_.set_aside;
  recovered.tried = store_.tried;
  for (const auto& [holder, dealt] : store_.leases) recovered.held.push_back(dealt);
  return recovered;
}

void Coordinator::crash() {
  ++incarnation_;
  core_.reset();
}

std::optional<AccountId> Coordinator::account_of(const PeerId& peer) const {
  const auto host = hosts_.find(peer);
  return host == hosts_.end() ? std::nullopt : std::optional(host->second);
}

bool Coordinator::has_signed(const PeerId& peer, std::span<const std::uint8_t> text,
                             const PeerSignature& signature) const {
  return testing::PlainSigner(peer).verify(text, signature, peer).ok();
}

core::AccountStanding Coordinator::standing_of(AccountId account) const {
  const auto own = store_.confirmed.find(account);
  const bool established = own != store_.confirmed.end() && own->second >= core::kConfirmedRounds;
  return {established, established || established_accounts() < core::kEstablishedEnough};
}

std::int64_t Coordinator::established_accounts() const {
  return std::count_if(store_.confirmed.begin(), store_.confirmed.end(),
                       [](const auto& entry) { return entry.second >= core::kConfirmedRounds; });
}

wire::HeartbeatReply Coordinator::on_heartbeat(const PeerId& from, const wire::Heartbeat& heartbeat) {
  const core::MemberIdentity who{from, *account_of(from), "192.0.2.1"};
  core::HeartbeatDecision decision = core_->on_heartbeat(scheduler_.now(), scheduler_.wall_now(), who, heartbeat);
  take(std::move(decision.ops));
  arm_timer();
  return decision.reply;
}

void Coordinator::on_unusable(const PeerId& from, const wire::UnusableSamples& samples) {
  take(*core_->on_unusable({from, *account_of(from), "192.0.2.1"}, samples));
}

void Coordinator::on_checkpoint(const PeerId& from, const wire::Checkpoint& checkpoint, std::span<const float> state) {
  const auto wanted = core_->on_checkpoint_piece(scheduler_.now(), from);
  if (!wanted || wanted->state_digest != checkpoint.state_digest) return;
  store_.checkpoint = checkpoint;
  store_.checkpoint_state.assign(state.begin(), state.end());
  core_->on_checkpoint_kept(scheduler_.now(), checkpoint);
}

void Coordinator::take(std::vector<core::StoreOp> ops) {
  if (ops.empty()) return;
  scheduler_.after(kCommitTime, [this, life = incarnation_, ops = std::move(ops)] {
    if (life != incarnation_) return;  // died before the commit
    for (const core::StoreOp& op : ops) apply(op);
  });
}

void Coordinator::apply(const core::StoreOp& op) {
  if (const auto* round = std::get_if<core::RoundDecided>(&op)) {
    // A round that is there stays unchanged.
    if (store_.rounds.emplace(round->round, *round).second) {
      for (const CountedSamples& counted : round->counted) store_.epochs[counted.epoch] += counted.count;
      std::erase_if(store_.groups, [&](const core::SeatedGroup& group) { return group.round < round->round; });
      if (round->successor) store_.groups.push_back(*round->successor);
      for (const AccountId account : round->confirmed) ++store_.confirmed[account];
      store_.final_below = std::max(store_.final_below, round->final_below);
      extend(round->chain);
    }
    std::erase_if(store_.leases,
                  [&](const auto& lease) { return lease.second.leases.front().last_round <= round->round; });
    if (on_durable) on_durable(*round);
    core_->on_stored(round->round);
  } else if (const auto* seated = std::get_if<core::GroupSeated>(&op)) {
    store_.groups.push_back(seated->group);
  } else if (const auto* lane = std::get_if<core::LaneAssigned>(&op)) {
    if (lane->displaced.has_value()) store_.lanes.erase(*lane->displaced);
    store_.lanes[lane->holder.peer] = lane->holder.lane;
  } else if (const auto* dealt = std::get_if<core::LeasesDealt>(&op)) {
    for (const wire::SampleLease& lease : dealt->leases) {
      store_.epochs.try_emplace(lease.epoch);
      store_.leases[{dealt->peer, lease.number}] = {dealt->peer, dealt->process, {lease}};
    }
    core_->on_leases_stored(*dealt);
  } else if (const auto* tried = std::get_if<core::SamplesTried>(&op)) {
    std::erase_if(store_.tried, [&](const auto& one) { return one.epoch < tried->oldest_epoch; });
    store_.tried.insert(store_.tried.end(), tried->tries.begin(), tried->tries.end());
  } else if (const auto* sample = std::get_if<SampleSetAside>(&op)) {
    ++store_.epochs[sample->epoch];
    store_.set_aside.push_back(*sample);
    if (on_set_aside) on_set_aside(*sample);
  } else if (const auto* restarted = std::get_if<core::ProbationRestarted>(&op)) {
    store_.confirmed.erase(restarted->account);
  } else if (const auto* adopted = std::get_if<core::StateAdopted>(&op)) {
    if (on_adopted) on_adopted(*adopted);
  } else if (const auto* stated = std::get_if<core::StateStated>(&op)) {
    extend(stated->chain);
  } else if (const auto* figure = std::get_if<core::EvaluationStored>(&op)) {
    if (on_evaluated) on_evaluated(*figure);
  } else if (const auto* change = std::get_if<core::RunStateChanged>(&op)) {
    store_.state = change->state;
  } else if (const auto* seat = std::get_if<core::SeatChanged>(&op)) {
    if (on_seat_changed) on_seat_changed(*seat);
  } else {
    apply_audit(op);
  }
}

void Coordinator::apply_audit(const core::StoreOp& op) {
  if (const auto* audit = std::get_if<core::AuditStored>(&op)) {
    log_debug("{:.3f} audit of {} in round {}: {}, {:.2g} away, {}", to_seconds(scheduler_.now().time_since_epoch()),
              audit->peer.brief(), audit->round,
              audit->verdict == core::AuditVerdict::clean    ? "right"
              : audit->verdict == core::AuditVerdict::missed ? "missed"
                                                             : "unchecked",
              audit->distance, audit->why);
    const auto [row, is_new] = store_.audits.try_emplace({audit->round, audit->peer}, *audit);
    if (!is_new && row->second.verdict == core::AuditVerdict::unchecked) row->second = *audit;
    core::RecoveredAudits& known = store_.audited[audit->peer];
    known.peer = audit->peer;
    if (audit->verdict == core::AuditVerdict::clean) ++known.checks, ++known.clean;
    if (audit->verdict == core::AuditVerdict::missed) ++known.misses, known.clean = 0, known.last_miss = audit->round;
    if (on_audited) on_audited(op, audit->peer);
  } else if (const auto* voided = std::get_if<core::CreditVoided>(&op)) {
    take_back(*voided);
    if (on_audited) on_audited(op, voided->peer);
  } else if (const auto* banned = std::get_if<core::AccountBanned>(&op)) {
    for (const auto& [peer, account] : hosts_) {
      if (account == banned->account && on_banned) on_banned(peer);
    }
  }
}

// Takes back what is not final yet.
void Coordinator::take_back(const core::CreditVoided& voided) {
  const auto first = store_.rounds.lower_bound(std::max(voided.from, store_.final_below));
  for (auto round = first; round != store_.rounds.end(); ++round) {
    for (const core::CreditedContribution& line : round->second.contributions) {
      if (line.peer == voided.peer && line.account == voided.account) store_.voided.insert({round->first, line.peer});
    }
  }
}

void Coordinator::extend(const core::ChainGrowth& growth) {
  if (!growth.link.empty()) store_.chain.links.push_back(wire::decode_state_link(growth.link).value());
  if (growth.statement.empty()) return;
  store_.chain.statement = growth.statement;
  store_.chain.stated = growth.stated;
  std::erase_if(store_.chain.links, [&](const wire::StateLink& link) { return link.round < growth.stated.round; });
}

void Coordinator::arm_timer() {
  const TimePoint deadline = core_->next_deadline();
  if (deadline == kNever || (timer_ != kNever && timer_ <= deadline)) return;
  timer_ = deadline;
  scheduler_.at(deadline, [this, deadline, life = incarnation_] {
    if (life != incarnation_ || timer_ != deadline) return;
    timer_ = kNever;
    take(core_->on_timer(scheduler_.now(), scheduler_.wall_now()));
    if (on_timer) on_timer();
    arm_timer();
  });
}

}  // namespace starling::sim
