#include "coordinator/core/dispatcher.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/run/epochs.h"

namespace starling::core {
namespace {

constexpr Duration kIdleInterval = std::chrono::seconds(1);  // no round is near: the run does not run, or not for it
constexpr Duration kNotReadyInterval = std::chrono::milliseconds(500);
constexpr Duration kAheadInterval = std::chrono::milliseconds(500);  // its report waits for others
constexpr Duration kWaitInterval = std::chrono::milliseconds(200);   // the batch is full, others are awaited
constexpr Duration kLeaseInterval = std::chrono::milliseconds(50);   // while the store writes
constexpr int kCallsAhead = 2;                                       // a member has leases until it has called so often
constexpr Duration kAveragingFloor = std::chrono::milliseconds(500);

// Returns the point of the calling window at which a member calls: fixed for a member in a round, another each round.
double spread_of(const PeerId& peer, RoundIndex round) {
  std::uint64_t word = 0;
  std::memcpy(&word, peer.bytes.data(), sizeof word);
  return static_cast<double>(mix64(word ^ static_cast<std::uint64_t>(round)) >> 11) * 0x1.0p-53;
}

// True if the copy of the state that is due should be this member's: nobody else who could send it uploads more than
// twice as fast, as far as others have seen, because a slow sender would keep the copy waiting, and its group. Who was
// asked and has sent nothing is asked again when nobody else is left.
bool should_send(const Member& member, const MemberTable& members, const CheckpointTurn& turn) {
  const auto others_send = [&](double faster_than) {
    return std::any_of(members.all().begin(), members.all().end(), [&](const auto& entry) {
      const Member& other = entry.second;
      const bool may = other.ready() && other.works() && !turn.has_failed(other.who.peer);
      return may && other.speeds.seen_upload.bytes_per_s > faster_than;
    });
  };
  // A line that its owner has not measured yet may have been seen, and the other way round.
  const double own = std::max(member.speeds.upload_bytes_per_s, member.speeds.seen_upload.bytes_per_s);
  return !others_send(turn.has_failed(member.who.peer) ? -1 : 2 * own);
}

// Counts accounts no further than it matters to the leases.
std::size_t accounts_that_train(const MemberTable& members) {
  std::set<AccountId> accounts;
  for (const auto& [peer, member] : members.all()) {
    if (member.ready() && member.works()) accounts.insert(member.who.account);
    if (accounts.size() >= LeaseBook::kWitnesses) break;
  }
  return accounts.size();
}

// Returns how many accounts have a member that can measure the state.
std::size_t accounts_that_measure(TimePoint now, const MemberTable& members) {
  std::vector<AccountId> able;
  for (const auto& [peer, member] : members.all()) {
    const bool holds_it = member.holding.copy != Copy::other;
    const bool may_measure = holds_it && member.voice && (member.works() || member.evaluates());
    if (may_measure && !member.sits_out(now)) able.push_back(member.who.account);
  }
  std::sort(able.begin(), able.end());
  return static_cast<std::size_t>(std::unique(able.begin(), able.end()) - able.begin());
}

}  // namespace

SampleCount sendable(double samples) {
  return std::llround(std::min(samples, static_cast<double>(wire::kMessageCountMax)));
}

Dispatcher::Dispatcher(const RunSettings& settings, const RecoveredRun& recovered)
    : settings_(settings),
      lanes_(settings.manifest.peers_max, recovered.current().round, recovered.lanes),
      reach_(settings.options),
      evaluation_(recovered.evaluated_round,
                  settings.manifest.model.experts.piece == wire::kTrunk ? kToleranceOfCells : kTolerance),
      checkpoint_(settings.manifest.checkpoint_rounds, recovered.checkpoint) {
  if (wire::samples_in_epochs(settings.manifest)) {
    leases_.emplace(wire::epoch_samples(settings.manifest), settings.manifest.micro_batch_size, recovered.leases);
  }
}

Result<std::optional<LaneAssigned>> Dispatcher::admit(const PeerId& peer, RoundIndex round,
                                                      const MemberTable& members) {
  return lanes_.assign(peer, round, [&](const PeerId& holder) { return members.find(holder) != nullptr; });
}

std::optional<wire::Endpoint> Dispatcher::on_call(TimePoint now, MemberTable& members, Member& member,
                                                  const wire::Heartbeat& heartbeat) {
  const PeerId& peer = member.who.peer;
  member.lane = lanes_.lane_of(peer);
  if (heartbeat.evaluation) evaluation_.answered(now, peer, *heartbeat.evaluation);
  evaluation_.on_call(now, peer, heartbeat.state_round);
  return reach_.on_heartbeat(now, members, member);
}

void Dispatcher::on_dialled_back(TimePoint now, Member& member, const wire::Endpoint& tested, bool reached) {
  reach_.on_tested(now, member, tested, reached);
}

wire::HeartbeatReply Dispatcher::answer(const Situation& at, Member& member, const wire::Heartbeat& heartbeat,
                                        std::vector<StoreOp>& ops) {
  const WeightForecast& forecast = at.members.forecast();
  wire::HeartbeatReply reply;
  reply.run_state = at.run.state;
  reply.round = at.run.round;
  reply.state_digest = at.run.canonical;
  reply.lane = member.lane;
  reply.swarm.target_batch_size = settings_.manifest.target_batch_size;
  reply.swarm.samples_accumulated = sendable(forecast.expected(at.now));
  reply.swarm.samples_per_s = std::clamp(forecast.samples_per_s(), 0.0, wire::kMessageRateMax);
  reply.swarm.size = static_cast<int>(at.members.all().size());
  reply.acknowledged_rounds = at.credit.durable_below(at.run.round);
  // An acknowledgement settles all rounds before the current one, too, so these must be durable.
  const bool durable = at.credit.rounds_pending() == 0;
  if (durable && member.results.state == Results::State::voided) {
    reply.acknowledged_rounds = member.reported.state_round;
  }
  reply.group = at.outlook.group;
  tell_state(at, member, reply);
  reply.named.newcomers = introductions_.newcomers_of(at.now, member.who.peer);
  const bool has_loss = settings_.manifest.model.experts.piece < 0;  // a cell alone has none
  if (has_loss && member.ready() && member.works() && member.voice && !member.sits_out(at.now)) {
    auto situation = evaluation_situation(at.run, at.outlook.start.has_value());
    if (situation.accounts == 0) situation.accounts = accounts_that_measure(at.now, at.members);
    reply.evaluate_round = evaluation_.ask(at.now, member.who, situation, settings_.options);
  }
  reply.credited.samples = at.credit.stored(member.who.account);
  reply.credited.credit =
      std::min(credit_earned(settings_.manifest.flops_per_sample, reply.credited.samples), wire::kMessageRateMax);
  tell_reach(member, reply);
  call_back(at, member, interval_for(at, member), reply);
  if (leases_) deal_leases(at, member, heartbeat, reply, ops);
  return reply;
}

void Dispatcher::call_back(const Situation& at, Member& member, Duration in, wire::HeartbeatReply& reply) const {
  member.told = bounded_interval(in, at.members.all().size(), settings_.options);
  reply.next_heartbeat_ms = std::max<std::int64_t>(1, to_ms(member.told));
}

// Tells a member where it gets the state that it does not hold, or that it should send the coordinator a copy.
void Dispatcher::tell_state(const Situation& at, const Member& member, wire::HeartbeatReply& reply) {
  const Digest& canonical = at.run.canonical;
  const bool is_open = member.results.state == Results::State::open;
  const bool says_it_holds_it = member.reported.state_digest == canonical;
  const bool needs_state = !member.ready() && !says_it_holds_it && !is_open && !canonical.is_zero() &&
                           !member.sits_out(at.now) && !member.only_holds();
  if (needs_state && !at.outlook.loads_in_vain) {
    reply.donors = at.members.donors(member.who.peer, wire::kDonorsMax);
    introductions_.introduce(at.now, member.who.peer, reply.donors);
    const auto& kept = checkpoint_.newest();
    const Member* source = reply.donors.empty() ? nullptr : at.members.find(reply.donors.front().peer);
    const bool proven = source != nullptr && source->holding.verdict == Holding::Verdict::agreed;
    if (!proven && kept && kept->state_digest == canonical) reply.kept.checkpoint = kept;
  }
  if (!member.ready() || !member.works() || at.run.state != wire::RunState::running) return;
  const bool due = checkpoint_.due(at.now, at.run.round, settings_.options);
  if (due && !should_send(member, at.members, checkpoint_)) return;
  reply.send_checkpoint = checkpoint_.ask(at.now, member.who.peer, at.run.round, canonical, settings_.options);
}

void Dispatcher::tell_reach(const Member& member, wire::HeartbeatReply& reply) const {
  reply.seen.reachability = member.reach.verdict;
  reply.seen.address = member.who.address;
  reply.relaying.at = member.relay.endpoint;
  reply.relaying.clients = reach_.clients_of(member.who.peer);
  reply.relaying.bytes_per_round =
      std::min(wire::relay_bytes_per_round(settings_.vector_floats), wire::kMessageCountMax);
}

// Deals enough for this round and the next at the member's own speed, as far as that was credited, but no more than it
// uses until its second call from now. The member is called back as soon as the store has the leases, if it could
// otherwise run out.
void Dispatcher::deal_leases(const Situation& at, Member& member, const wire::Heartbeat& heartbeat,
                             wire::HeartbeatReply& reply, std::vector<StoreOp>& ops) {
  if (heartbeat.process == 0) return;
  const RoundIndex round = at.run.round;
  const wire::RunManifest& manifest = settings_.manifest;
  const PeerId& peer = member.who.peer;
  reply.leases = leases_->held(peer, heartbeat.process, heartbeat.next_draw, round);
  if (!member.ready() || !member.works() || at.run.state != wire::RunState::running) return;
  const double own = member.speeds.samples_per_s;
  // Members on probation need no more than their part of what all compute.
  const WeightForecast& forecast = at.members.forecast();
  const double swarm = member.voice ? forecast.samples_per_s() : forecast.samples().samples_per_s();
  const double part =
      own > 0 && swarm > 0 ? std::min(1.0, own / swarm) : 1.0 / static_cast<double>(at.members.all().size());
  const auto share = static_cast<SampleCount>(part * static_cast<double>(manifest.target_batch_size));
  SampleCount wanted = std::min(2 * (share + manifest.micro_batch_size), kMemberSamplesMax);
  if (own > 0) {
    const CoordinatorOptions& options = settings_.options;
    const Duration longest = bounded_interval(options.heartbeats.max, at.members.all().size(), options);
    const double ahead = std::min(own * kCallsAhead * to_seconds(longest), static_cast<double>(kMemberSamplesMax));
    wanted = std::min(wanted, static_cast<SampleCount>(ahead) + 2 * manifest.micro_batch_size);
  }
  auto dealt = leases_->deal({peer, member.who.account, heartbeat.process}, heartbeat.next_draw, wanted, round);
  if (dealt) ops.emplace_back(std::move(*dealt));
  SampleCount told = 0;
  for (const wire::SampleLease& lease : reply.leases) {
    told += lease.number + lease.count - std::max(heartbeat.next_draw, lease.number);
  }
  if (4 * told < wanted) call_back(at, member, std::min(member.told, kLeaseInterval), reply);
}

Duration Dispatcher::interval_for(const Situation& at, const Member& member) const {
  const Outlook& outlook = at.outlook;
  if (member.results.more) return {};  // until it has sent them, no state of it is known, and nobody can load one
  if (member.only_holds() || (at.run.state != wire::RunState::running && !outlook.start)) return kIdleInterval;
  const Duration usual_averaging = at.run.rhythm.averaging;
  const Duration averaging = std::max(2 * usual_averaging, kAveragingFloor);
  if (member.averages()) return averaging;
  // It is at the next round already, which is full as soon as the swarm is fast.
  if (member.results.state == Results::State::open) {
    if (outlook.planned_samples_per_s <= 0) return kAheadInterval;
    double batch_seconds = static_cast<double>(settings_.manifest.target_batch_size) / outlook.planned_samples_per_s;
    // The samples that everybody may have for it by now are taken off.
    const double own = member.speeds.samples_per_s;
    if (own > 0) batch_seconds -= static_cast<double>(member.reported.samples) / own;
    if (batch_seconds <= 0) return kWaitInterval;
    return until_next_call(at.now, at.now + from_seconds(batch_seconds), outlook.lead, 0);
  }
  if (outlook.start) {
    // Planned members call of their own accord when they begin and when they are done. The others need the
    // new state as soon as it exists, so that the next plan has room for them.
    const Duration until_start = std::max(*outlook.start - at.now, Duration{});
    return outlook.awaited ? until_start + averaging : until_start + usual_averaging + outlook.lead / 2;
  }
  if (!member.ready()) return kNotReadyInterval;
  if (outlook.full <= at.now) return kWaitInterval;
  return until_next_call(at.now, outlook.full, outlook.lead, spread_of(member.who.peer, at.run.round));
}

std::string Dispatcher::notice(const Situation& at, const Member& member) {
  if (at.credit.rounds_pending() >= kRoundsPendingMax) {
    return "finished rounds can not be stored at the moment, so no new ones begin until they are";
  }
  if (at.now < member.left_out_until) {
    return "the others' rounds are too short for this computer's line: it is asked again in a few minutes";
  }
  if (std::string why = explain(member.standing); !why.empty()) return why;
  if (member.holding.refuted()) {
    return "this computer says that it holds the model, and has not shown it: no round is planned with it until it "
           "does";
  }
  if (!at.outlook.loads_in_vain) return {};
  return "the others' rounds are shorter than the model's download to this computer: they wait for it now and then";
}

void Dispatcher::sweep(TimePoint now, const MemberTable& members) {
  // By one at a time: right after a round, some are not seen at the new state yet.
  measuring_accounts_ = std::max(accounts_that_measure(now, members),
                                 measuring_accounts_ - std::min<std::size_t>(1, measuring_accounts_));
  introductions_.sweep(now);
  reach_.sweep(members);
  if (leases_) leases_->set_accounts(accounts_that_train(members));
}

std::optional<EvaluationTurn::Verdict> Dispatcher::conclude_evaluation(TimePoint now, const RunStatus& run,
                                                                       const MemberTable& members, bool planned) {
  if (!evaluation_.is_open()) return std::nullopt;
  evaluation_.forget_gone([&](const PeerId& peer) {
    const Member* member = members.find(peer);
    return member != nullptr && member->reported.phase != wire::MemberPhase::paused;
  });
  return evaluation_.conclude(now, evaluation_situation(run, planned), settings_.options);
}

EvaluationTurn::Situation Dispatcher::evaluation_situation(const RunStatus& run, bool planned) const {
  return {run.round, run.rhythm.round, planned, run.state == wire::RunState::running, measuring_accounts_};
}

std::vector<StoreOp> Dispatcher::on_unusable(const MemberIdentity& who, const wire::UnusableSamples& samples) {
  std::vector<StoreOp> ops;
  if (!leases_) return ops;
  LeaseBook::PassedOver passed = leases_->pass_over({who.peer, who.account, samples.process}, samples.draws);
  if (!passed.tried.tries.empty()) ops.emplace_back(std::move(passed.tried));
  for (const SampleSetAside& sample : passed.set_aside) ops.emplace_back(sample);
  return ops;
}

bool Dispatcher::uses_operator_relay(const PeerId& peer) const {
  return reach_.is_client_of(settings_.options.relay.peer, peer);
}

}  // namespace starling::core
