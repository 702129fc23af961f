#include "coordinator/core/run_coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "coordinator/core/run_coordinator_impl.h"
#include "shared/base/permutation.h"
#include "shared/run/epochs.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/grid_plan.h"
#include "shared/swarm/shares.h"

namespace starling::core {
namespace {

constexpr Duration kSweepInterval = std::chrono::milliseconds(250);
constexpr Duration kIdleInterval = std::chrono::seconds(1);  // the run is not running
constexpr Duration kNotReadyInterval = std::chrono::milliseconds(500);
constexpr Duration kAheadInterval = std::chrono::milliseconds(500);  // its report waits for others
constexpr Duration kWaitInterval = std::chrono::milliseconds(200);   // the batch is full, others are awaited
constexpr Duration kLeaseInterval = std::chrono::milliseconds(50);   // while the store writes
constexpr Duration kAveragingFloor = std::chrono::milliseconds(500);

// Returns the point of the calling window at which a member calls: fixed for a member in a round, another each round.
double spread_of(const PeerId& peer, RoundIndex round) {
  std::uint64_t word = 0;
  std::memcpy(&word, peer.bytes.data(), sizeof word);
  return static_cast<double>(mix64(word ^ static_cast<std::uint64_t>(round)) >> 11) * 0x1.0p-53;
}

// Bounds a number that a member would refuse to read: it would refuse the whole reply.
SampleCount sendable(double samples) {
  return std::llround(std::min(samples, static_cast<double>(wire::kMessageCountMax)));
}

}  // namespace

double credit_earned(double flops_per_sample, SampleCount samples) {
  return flops_per_sample * static_cast<double>(samples) * (200.0 / 86400e9);
}

RunCoordinator::Impl::Impl(const wire::RunManifest& manifest, std::int64_t vector_floats, const RecoveredRun& recovered,
                           const KnownHosts& known_hosts, const CoordinatorOptions& options)
    : manifest_(manifest),
      vector_floats_(vector_floats),
      known_hosts_(known_hosts),
      options_(options),
      state_(recovered.state),
      round_(recovered.round),
      canonical_(recovered.round == 0 ? manifest.initial_state_digest : recovered.state_digest),
      reach_(options_),
      lanes_(manifest.peers_max, recovered.round, recovered.lanes),
      evaluation_(recovered.evaluated_round),
      checkpoint_(manifest.checkpoint_rounds, recovered.checkpoint),
      recovered_(recovered.round > 0),
      // Rounds are decided when just more than half of their members have reported.
      last_group_(static_cast<std::size_t>(std::max(0, 2 * recovered.survivors - 1))) {
  if (wire::samples_in_epochs(manifest)) {
    leases_.emplace(wire::epoch_samples(manifest), manifest.micro_batch_size, recovered.leases);
  }
  set_credited(recovered.credited);
  recover_electorate(recovered);
}

void RunCoordinator::Impl::recover_electorate(const RecoveredRun& recovered) {
  known_states_.add({0, manifest_.initial_state_digest});
  for (const KnownState& state : recovered.states) known_states_.add(state);
  known_states_.add({round_, canonical_});
  for (const SeatedGroup& group : recovered.groups) electorates_.seat(group);
  const SeatedGroup* last = electorates_.find(recovered.last_group);
  last_electorate_ = last != nullptr ? last->seats() : recovered.last_credited;  // an older version kept no groups
  vouchers_ = last_electorate_;
}

Status RunCoordinator::Impl::check_run(const RunId& run_id) const {
  if (run_id == manifest_.run_id) return {};
  return Error{ErrorCode::not_found, fmt::format("run '{}' is not served here; '{}' is", run_id, manifest_.run_id)};
}

HeartbeatDecision RunCoordinator::Impl::on_heartbeat(TimePoint now, WallTime wall, const MemberIdentity& who,
                                                     const wire::Heartbeat& heartbeat) {
  HeartbeatDecision decision;
  if (const Status served = check_run(heartbeat.run_id); !served.ok()) {
    decision.refusal = served.error();
    return decision;
  }
  auto assigned = lanes_.assign(who.peer, round_, [&](const PeerId& peer) { return members_.find(peer) != nullptr; });
  if (!assigned.ok()) {
    decision.refusal = assigned.error();
    return decision;
  }
  if (assigned->has_value()) {
    (*assigned)->wall = wall;
    decision.ops.emplace_back(**assigned);
  }
  if (started_ == kNever) started_ = round_began_ = swept_ = now;

  std::string notice;
  for (const wire::RoundReport& report : heartbeat.reports) {
    if (std::string why = take_report(now, wall, who.peer, report, decision.ops); notice.empty())
      notice = std::move(why);
  }
  Member& member = members_.touch(now, who, heartbeat);
  member.lane = lanes_.lane_of(who.peer);
  member.standing = reputation_.of(who.peer);
  if (plan_ && member.seat.plan == plan_->serial && heartbeat.phase == wire::MemberPhase::averaging) {
    if (!member.seat.attended && !member.late()) rhythm_.on_arrival(now - plan_->start);
    member.seat.attended = true;
  }
  if (heartbeat.evaluation) evaluation_.answered(now, who.peer, *heartbeat.evaluation);
  evaluation_.on_call(now, who.peer, heartbeat.state_round);
  decision.dial_back = reach_.on_heartbeat(now, members_, member);
  members_.judge(now, member, canonical_);
  note_catching_up(now, member);
  advance(now, wall, decision.ops);
  note_reports(now, member, heartbeat);
  member.results.more = heartbeat.reports.size() == wire::kReportsPerHeartbeatMax;

  decision.reply = reply_to(now, member);
  decision.reply.server_unix_ms = wall.unix_ms;
  if (leases_) deal_leases(member, heartbeat, decision);
  if (notice.empty() && pending_credit_.size() >= kRoundsPendingMax) {
    notice = "finished rounds can not be stored at the moment, so no new ones begin until they are";
  }
  if (notice.empty() && now < member.left_out_until) {
    notice = "the others' rounds are too short for this computer's line: it is asked again in a few minutes";
  }
  if (notice.empty()) notice = explain(member.standing);
  if (notice.empty() && loads_in_vain(member)) {
    notice = "the others' rounds are shorter than the model's download to this computer: they wait for it now and then";
  }
  decision.reply.notice = std::move(notice);
  if (heartbeat.phase == wire::MemberPhase::leaving) {
    reach_.on_gone(who.peer);
    members_.remove(who.peer);
    if (last_group_ > 0) --last_group_;
  }
  return decision;
}

// A result that does not count is void: at once if its round is the current one, and after a while if the rounds before
// it, which others may still report, do not come.
void RunCoordinator::Impl::note_reports(TimePoint now, Member& member, const wire::Heartbeat& heartbeat) const {
  const auto tells = [&heartbeat](const auto& is_it) {
    return std::any_of(heartbeat.reports.begin(), heartbeat.reports.end(), is_it);
  };
  Results& results = member.results;
  if (reports_.has_spoken(member.who.peer, round_)) {
    results = {Results::State::open};
    return;
  }
  const bool early = heartbeat.state_round > round_ &&
                     tells([this](const wire::RoundReport& report) { return report.round >= round_; });
  if (!early) {
    results = {};
    return;
  }
  if (results.early_since == kNever) results.early_since = now;
  const bool refused = tells([this](const wire::RoundReport& report) { return report.round == round_; });
  const bool counts = !refused && now - results.early_since <= options_.absence_patience;
  results.state = counts ? Results::State::early : Results::State::voided;
}

void RunCoordinator::Impl::note_catching_up(TimePoint now, Member& member) {
  if (member.catches_up()) {
    if (member.grace.behind_since == kNever) member.grace.behind_since = now;
  } else if (member.ready()) {
    // Only a download of this round's state counts: its attempts in earlier rounds failed.
    if (member.grace.behind_since != kNever)
      rhythm_.on_catching_up(now - std::max(member.grace.behind_since, round_began_));
    member.grace.behind_since = kNever;
    member.grace.rounds_held = 0;
    member.grace.again = {};
  }
}

// Deals enough for this round and the next at the member's own speed. The member is called back as soon as the store
// has the leases, if it could otherwise run out.
void RunCoordinator::Impl::deal_leases(Member& member, const wire::Heartbeat& heartbeat, HeartbeatDecision& decision) {
  if (heartbeat.process == 0) return;
  const PeerId& peer = member.who.peer;
  wire::HeartbeatReply& reply = decision.reply;
  reply.leases = leases_->held(peer, heartbeat.process, heartbeat.next_draw, round_);
  if (!member.ready() || !member.works() || state_ != wire::RunState::running) return;
  const double swarm = members_.forecast().samples_per_s();
  const double part = member.speeds.samples_per_s > 0 && swarm > 0 ? std::min(1.0, member.speeds.samples_per_s / swarm)
                                                                   : 1.0 / static_cast<double>(members_.all().size());
  const auto share = static_cast<SampleCount>(part * static_cast<double>(manifest_.target_batch_size));
  const SampleCount wanted = std::min(2 * (share + manifest_.micro_batch_size), kMemberSamplesMax);
  auto dealt = leases_->deal({peer, member.who.account, heartbeat.process}, heartbeat.next_draw, wanted, round_);
  if (dealt) decision.ops.emplace_back(std::move(*dealt));
  SampleCount told = 0;
  for (const wire::SampleLease& lease : reply.leases) {
    told += lease.number + lease.count - std::max(heartbeat.next_draw, lease.number);
  }
  if (4 * told >= wanted) return;
  member.told = bounded_interval(std::min(member.told, kLeaseInterval), members_.all().size(), options_);
  reply.next_heartbeat_ms = std::max<std::int64_t>(1, to_ms(member.told));
}

Result<std::vector<StoreOp>> RunCoordinator::Impl::on_unusable(const MemberIdentity& who,
                                                               const wire::UnusableSamples& samples) {
  STARLING_TRY(check_run(samples.run_id));
  Ops ops;
  if (!leases_) return ops;
  LeaseBook::PassedOver passed = leases_->pass_over({who.peer, who.account, samples.process}, samples.draws);
  if (!passed.tried.tries.empty()) ops.emplace_back(std::move(passed.tried));
  for (const SampleSetAside& sample : passed.set_aside) ops.emplace_back(sample);
  return ops;
}

EvaluationTurn::Situation RunCoordinator::Impl::evaluation_situation() const {
  return {round_, rhythm_.round, plan_.has_value(), state_ == wire::RunState::running};
}

void RunCoordinator::Impl::conclude_evaluation(TimePoint now, WallTime wall, Ops& ops) {
  if (!evaluation_.is_open()) return;
  evaluation_.forget_gone([this](const PeerId& peer) {
    const Member* member = members_.find(peer);
    return member != nullptr && member->reported.phase != wire::MemberPhase::paused;
  });
  const auto& all = members_.all();
  const auto able = std::count_if(all.begin(), all.end(), [&](const auto& entry) {
    return entry.second.ready() && (entry.second.works() || entry.second.evaluates()) && !entry.second.sits_out(now);
  });
  const auto verdict = evaluation_.conclude(now, evaluation_situation(), static_cast<std::size_t>(able), options_);
  if (!verdict) return;
  for (const EvaluationFigure& figure : verdict->believed) {
    ops.emplace_back(
        EvaluationStored{verdict->round, figure.peer, figure.bits_per_byte, figure.bytes, figure.accuracy, wall});
  }
  for (const PeerId& peer : verdict->outvoted) reputation_.on_false_word(round_, peer);
}

std::vector<StoreOp> RunCoordinator::Impl::on_timer(TimePoint now, WallTime wall) {
  Ops ops;
  if (started_ != kNever) advance(now, wall, ops);
  return ops;
}

TimePoint RunCoordinator::Impl::next_deadline() const {
  if (started_ == kNever || (members_.all().empty() && reports_.first_at(round_) == kNever)) return kNever;
  TimePoint deadline = swept_ + kSweepInterval;
  if (may_plan(swept_)) {
    const TimePoint full = full_at(swept_);
    // A look that found nobody to plan with is not repeated at once.
    if (full != kNever) deadline = std::min(deadline, std::max(advanced_ + options_.heartbeat_min, full - lead()));
  }
  return deadline;
}

void RunCoordinator::Impl::advance(TimePoint now, WallTime wall, Ops& ops) {
  advanced_ = now;
  decide_rounds(now, wall, ops);
  if (now - swept_ >= kSweepInterval) {
    sweep(now, wall, ops);
    decide_rounds(now, wall, ops);
  }
  plan_round(now, ops);
}

void RunCoordinator::Impl::sweep(TimePoint now, WallTime wall, Ops& ops) {
  swept_ = now;
  members_.forget_silent(now, options_.forget_floor);
  reach_.sweep(members_);
  if (leases_) leases_->set_accounts(accounts_that_train());
  conclude_evaluation(now, wall, ops);
  members_.end_assumptions(now, canonical_);
  if (now > started_ + options_.absence_patience) vouchers_.clear();
  give_up_hopeless_groups(now);
  if (round_ > 0) find_lost_state(now, ops);  // everybody makes the state of round 0
  drop_failed_plan(now);
}

// Counts accounts no further than it matters to the leases.
std::size_t RunCoordinator::Impl::accounts_that_train() const {
  std::set<AccountId> accounts;
  for (const auto& [peer, member] : members_.all()) {
    if (member.ready() && member.works()) accounts.insert(member.who.account);
    if (accounts.size() >= LeaseBook::kWitnesses) break;
  }
  return accounts.size();
}

void RunCoordinator::Impl::on_stored(RoundIndex round) {
  while (!pending_credit_.empty() && pending_credit_.front().first <= round) {
    for (const AccountSamples& sum : pending_credit_.front().second) credited_[sum.account] += sum.samples;
    pending_credit_.pop_front();
  }
  if (leases_) leases_->on_round_stored(round);
}

void RunCoordinator::Impl::on_refused(RoundIndex round) {
  std::erase_if(pending_credit_, [=](const auto& pending) { return pending.first == round; });
  if (leases_) leases_->on_round_refused(round);
}

void RunCoordinator::Impl::set_credited(const std::vector<AccountSamples>& sums) {
  credited_.clear();
  for (const AccountSamples& sum : sums) credited_[sum.account] = sum.samples;
}

void RunCoordinator::Impl::set_state(wire::RunState state) {
  if (state_ != wire::RunState::complete) state_ = state;
}

wire::HeartbeatReply RunCoordinator::Impl::reply_to(TimePoint now, Member& member) {
  wire::HeartbeatReply reply;
  reply.run_state = state_;
  reply.round = round_;
  reply.state_digest = canonical_;
  reply.lane = member.lane;
  reply.swarm.target_batch_size = manifest_.target_batch_size;
  reply.swarm.samples_accumulated = sendable(members_.forecast().expected(now));
  reply.swarm.samples_per_s = std::clamp(members_.forecast().samples_per_s(), 0.0, wire::kMessageRateMax);
  reply.swarm.size = static_cast<int>(members_.all().size());
  reply.acknowledged_rounds = pending_credit_.empty() ? round_ : pending_credit_.front().first;
  // An acknowledgement settles all rounds before the current one, too, so these must be durable.
  if (member.results.state == Results::State::voided && pending_credit_.empty())
    reply.acknowledged_rounds = member.reported.state_round;
  if (const wire::GroupInfo* group = plan_for(now, member)) {
    reply.group = group->grid ? swarm::place_in(*group, member.who.peer) : *group;
    reply.group->start_in_ms = group->round == round_ ? std::max<std::int64_t>(0, to_ms(plan_->start - now)) : 0;
  }
  tell_state(now, member, reply);
  if (member.ready() && member.works() && !member.sits_out(now)) {
    reply.evaluate_round = evaluation_.ask(now, member.who.peer, evaluation_situation(), options_);
  }
  if (const auto sum = credited_.find(member.who.account); sum != credited_.end()) {
    reply.credited.samples = sum->second;
    reply.credited.credit = std::min(credit_earned(manifest_.flops_per_sample, sum->second), wire::kMessageRateMax);
  }
  tell_reach(member, reply);
  member.told = bounded_interval(interval_for(now, member), members_.all().size(), options_);
  reply.next_heartbeat_ms = std::max<std::int64_t>(1, to_ms(member.told));
  return reply;
}

// Tells a member where it gets the state that it does not hold, or that it should send the coordinator a copy.
void RunCoordinator::Impl::tell_state(TimePoint now, const Member& member, wire::HeartbeatReply& reply) {
  const bool needs_state =
      !member.ready() && member.results.state != Results::State::open && !canonical_.is_zero() && !member.sits_out(now);
  if (needs_state && !loads_in_vain(member)) {
    reply.donors = members_.donors(member.who.peer, wire::kDonorsMax);
    const auto& kept = checkpoint_.newest();
    if (reply.donors.empty() && kept && kept->state_digest == canonical_) reply.checkpoint = kept;
  }
  if (!member.ready() || !member.works() || state_ != wire::RunState::running) return;
  if (checkpoint_.due(now, round_, options_) && !sends_fast(member)) return;
  reply.send_checkpoint = checkpoint_.ask(now, member.who.peer, round_, canonical_, options_);
}

// True if no ready member uploads more than twice as fast: a slow sender would keep the copy waiting, and its group.
bool RunCoordinator::Impl::sends_fast(const Member& member) const {
  return std::none_of(members_.all().begin(), members_.all().end(), [&](const auto& entry) {
    return entry.second.ready() && entry.second.speeds.upload_bytes_per_s > 2 * member.speeds.upload_bytes_per_s;
  });
}

std::optional<CheckpointWanted> RunCoordinator::Impl::on_checkpoint_piece(TimePoint now, const PeerId& peer) {
  const CheckpointTurn::Turn* turn = checkpoint_.heard(now, peer);
  if (turn == nullptr) return std::nullopt;
  const auto bytes = static_cast<std::int64_t>(wire::state_size(manifest_) * sizeof(float));
  return CheckpointWanted{manifest_.run_id, turn->round, turn->state_digest, bytes};
}

void RunCoordinator::Impl::tell_reach(const Member& member, wire::HeartbeatReply& reply) const {
  reply.reachability = member.reach.verdict;
  reply.address = member.who.address;
  reply.relaying.at = member.relay.endpoint;
  reply.relaying.clients = reach_.clients_of(member.who.peer);
  reply.relaying.bytes_per_round = std::min(wire::relay_bytes_per_round(vector_floats_), wire::kMessageCountMax);
}

void RunCoordinator::Impl::on_dialled_back(TimePoint now, const wire::Endpoint& tested, bool reached) {
  if (Member* member = members_.find(tested.peer)) reach_.on_tested(now, *member, tested, reached);
}

bool RunCoordinator::Impl::uses_operator_relay(const PeerId& peer) const {
  return reach_.is_client_of(options_.relay.peer, peer);
}

std::optional<RelayShare> RunCoordinator::Impl::operator_relay_share(const PeerId& a, const PeerId& b) const {
  if (!members_.all().contains(a) || !members_.all().contains(b)) return std::nullopt;
  if (!uses_operator_relay(a) && !uses_operator_relay(b)) return std::nullopt;
  return RelayShare{round_, wire::relay_bytes_per_round(vector_floats_)};
}

// A member has no use for the plan once it has begun. A member that comes too late for the plan, or even for its end,
// may have the result as long as the others keep it: until they begin the next. Columns of a grid keep none.
const wire::GroupInfo* RunCoordinator::Impl::plan_for(TimePoint now, const Member& member) const {
  if (member.averages()) return nullptr;
  if (plan_ && member.seat.plan == plan_->serial && member.ready()) {
    if (member.seat.attended) return nullptr;
    const bool in_time = now <= plan_->begin_by && reports_.first_of(round_, plan_->id) == kNever;
    return in_time || plan_->groups.size() == 1 ? &plan_->groups[member.seat.group] : nullptr;
  }
  if (!ended_ || (plan_ && now >= plan_->start) || member.reported.state_round != ended_->round) return nullptr;
  if (member.reported.state_digest != ended_->state_digest || member.results.state == Results::State::open ||
      !member.works())
    return nullptr;
  if (member.met_in == ended_->round)
    return nullptr;  // it is in that result, with another process than the one that calls
  const auto is_it = [&](const wire::GroupMember& one) { return one.endpoint.peer == member.who.peer; };
  return std::any_of(ended_->members.begin(), ended_->members.end(), is_it) ? &*ended_ : nullptr;
}

Duration RunCoordinator::Impl::interval_for(TimePoint now, const Member& member) const {
  if (member.results.more) return {};  // until it has sent them, no state of it is known, and nobody can load one
  if (state_ != wire::RunState::running && !plan_) return kIdleInterval;
  const Duration averaging = std::max(2 * rhythm_.averaging, kAveragingFloor);
  if (member.averages()) return averaging;
  if (member.results.state ==
      Results::State::open) {  // it is at the next round already, which is full as soon as the swarm is fast
    if (planned_rate_ <= 0) return kAheadInterval;
    double batch_seconds = static_cast<double>(manifest_.target_batch_size) / planned_rate_;
    // The samples that everybody may have for it by now are taken off.
    if (member.speeds.samples_per_s > 0)
      batch_seconds -= static_cast<double>(member.reported.samples) / member.speeds.samples_per_s;
    if (batch_seconds <= 0) return kWaitInterval;
    return until_next_call(now, now + from_seconds(batch_seconds), lead(), 0);
  }
  if (plan_) {
    // Planned members call of their own accord when they begin and when they are done. The others need the
    // new state as soon as it exists, so that the next plan has room for them.
    const Duration until_start = std::max(plan_->start - now, Duration{});
    const bool awaited = member.seat.plan == plan_->serial && !member.late();
    return awaited ? until_start + averaging : until_start + rhythm_.averaging + lead() / 2;
  }
  if (!member.ready()) return kNotReadyInterval;
  const TimePoint full = full_at(now);
  if (full <= now) return kWaitInterval;
  return until_next_call(now, full, lead(), spread_of(member.who.peer, round_));
}

SwarmView RunCoordinator::Impl::view(TimePoint now) const {
  SwarmView view;
  view.state = state_;
  view.round = round_;
  view.samples_accumulated = std::min(sendable(members_.forecast().expected(now)), manifest_.target_batch_size);
  view.target_batch_size = manifest_.target_batch_size;
  view.samples_per_s = state_ == wire::RunState::running ? members_.forecast().samples_per_s() : 0;
  view.swarm_size = static_cast<int>(members_.all().size());
  for (const auto& [peer, member] : members_.all()) {
    view.ready += member.ready() && member.works() ? 1 : 0;
    view.less_relied_on += member.standing.reliance < 1 ? 1 : 0;
    view.sitting_out += member.standing.sits_out ? 1 : 0;
    view.direct += member.dialable() ? 1 : 0;
    view.relayed += !member.dialable() && wire::dialable(member.endpoint()) ? 1 : 0;
  }
  view.averaging = plan_ && now >= plan_->start;
  view.plan = plan_reason_;
  return view;
}

std::vector<swarm::Host> RunCoordinator::Impl::hosts() const {
  std::vector<const Member*> computing;
  std::vector<swarm::Link> links;
  std::vector<double> round_trips_s;
  for (const auto& [peer, member] : members_.all()) {
    if (member.speeds.samples_per_s <= 0) continue;
    computing.push_back(&member);
    links.push_back({member.speeds.upload_bytes_per_s, member.speeds.download_bytes_per_s, member.dialable()});
    round_trips_s.push_back(member.speeds.round_trip_s);
  }
  links = swarm::with_typical_speeds(links);
  const std::vector<double> delays_s = swarm::delays_of(round_trips_s);
  std::vector<swarm::Host> hosts;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].upload <= 0 || links[i].download <= 0) continue;
    hosts.push_back({links[i], computing[i]->speeds.samples_per_s, delays_s[i], computing[i]->speeds.batch_jitter,
                     members_.departures_per_s()});
  }
  return hosts;
}

RunCoordinator::RunCoordinator(const wire::RunManifest& manifest, std::int64_t vector_floats,
                               const RecoveredRun& recovered, const KnownHosts& known_hosts,
                               const CoordinatorOptions& options)
    : impl_(std::make_unique<Impl>(manifest, vector_floats, recovered, known_hosts, options)) {}
RunCoordinator::~RunCoordinator() = default;

HeartbeatDecision RunCoordinator::on_heartbeat(TimePoint now, WallTime wall, const MemberIdentity& who,
                                               const wire::Heartbeat& heartbeat) {
  return impl_->on_heartbeat(now, wall, who, heartbeat);
}
Result<std::vector<StoreOp>> RunCoordinator::on_unusable(const MemberIdentity& who,
                                                         const wire::UnusableSamples& samples) {
  return impl_->on_unusable(who, samples);
}
void RunCoordinator::on_leases_stored(const LeasesDealt& dealt) { impl_->on_leases_stored(dealt); }
void RunCoordinator::on_leases_refused(const LeasesDealt& dealt) { impl_->on_leases_refused(dealt); }
std::vector<StoreOp> RunCoordinator::on_timer(TimePoint now, WallTime wall) { return impl_->on_timer(now, wall); }
TimePoint RunCoordinator::next_deadline() const { return impl_->next_deadline(); }
void RunCoordinator::on_stored(RoundIndex round) { impl_->on_stored(round); }
void RunCoordinator::on_refused(RoundIndex round) { impl_->on_refused(round); }
void RunCoordinator::set_credited(const std::vector<AccountSamples>& sums) { impl_->set_credited(sums); }
void RunCoordinator::set_state(wire::RunState state) { impl_->set_state(state); }
void RunCoordinator::on_dialled_back(TimePoint now, const wire::Endpoint& tested, bool reached) {
  impl_->on_dialled_back(now, tested, reached);
}
bool RunCoordinator::uses_operator_relay(const PeerId& peer) const { return impl_->uses_operator_relay(peer); }
std::optional<RelayShare> RunCoordinator::operator_relay_share(const PeerId& a, const PeerId& b) const {
  return impl_->operator_relay_share(a, b);
}
std::optional<CheckpointWanted> RunCoordinator::on_checkpoint_piece(TimePoint now, const PeerId& peer) {
  return impl_->on_checkpoint_piece(now, peer);
}
void RunCoordinator::on_checkpoint_kept(TimePoint now, const wire::Checkpoint& checkpoint) {
  impl_->on_checkpoint_kept(now, checkpoint);
}
void RunCoordinator::on_checkpoint_failed(TimePoint now, const PeerId& peer) { impl_->on_checkpoint_failed(now, peer); }
SwarmView RunCoordinator::view(TimePoint now) const { return impl_->view(now); }
std::vector<swarm::Host> RunCoordinator::hosts() const { return impl_->hosts(); }

}  // namespace starling::core
