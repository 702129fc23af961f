#include "coordinator/core/run_coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "coordinator/core/audit_desk.h"
#include "coordinator/core/dispatcher.h"
#include "coordinator/core/heartbeat_decision.h"
#include "coordinator/core/holders.h"
#include "coordinator/core/judge.h"
#include "coordinator/core/member.h"
#include "coordinator/core/planner.h"
#include "coordinator/core/run_status.h"
#include "shared/protocol/heartbeat.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/shares.h"

namespace starling::core {
namespace {

constexpr Duration kSweepInterval = std::chrono::milliseconds(250);
constexpr Duration kAssumedMin = std::chrono::milliseconds(500);
constexpr Duration kAssumedMax = std::chrono::seconds(5);
// Absences, in the rounds that are remembered, that are excused where nobody can tell whether the member could have
// come.
constexpr std::size_t kExcusesMax = 2;

RunStatus status_of(const wire::RunManifest& manifest, const RecoveredRun& recovered) {
  RunStatus run;
  run.state = recovered.state;
  const KnownState current = recovered.current();
  run.round = current.round;
  run.canonical = current.state_digest.is_zero() ? manifest.initial_state_digest : current.state_digest;
  run.recovered = run.round > 0;
  return run;
}

// Rounds are decided when just more than half of their members have reported.
std::size_t last_group_of(const RecoveredRun& recovered) {
  return static_cast<std::size_t>(std::max(0, 2 * recovered.survivors - 1));
}

}  // namespace

// Brings every event to the three parts in the right order, and moves the run from round to round.
class RunCoordinator::Impl {
 public:
  using Ops = std::vector<StoreOp>;

  Impl(const wire::RunManifest& manifest, std::int64_t vector_floats, const RecoveredRun& recovered,
       const KnownHosts& known_hosts, const CoordinatorOptions& options)
      : settings{manifest, vector_floats, known_hosts, options},
        run(status_of(manifest, recovered)),
        planner(settings, last_group_of(recovered)),
        judge(settings, recovered),
        dispatcher(settings, recovered),
        holders(options.nonce),
        audits(settings, recovered) {}

  [[nodiscard]] Status check_run(const RunId& run_id) const;
  Member& take_call(TimePoint now, const MemberIdentity& who, const wire::Heartbeat& heartbeat,
                    HeartbeatDecision& decision);
  void answer(TimePoint now, Member& member, const wire::Heartbeat& heartbeat, HeartbeatDecision& decision);
  void say_goodbye(const PeerId& peer);
  void advance(TimePoint now, WallTime wall, Ops& ops);
  [[nodiscard]] Planner::Situation planning(TimePoint now) const;
  [[nodiscard]] Judge::Situation judging(TimePoint now, WallTime wall) const;
  // The project states which state the round in work begins with.
  void state(WallTime wall, wire::StatementCause cause, Ops& ops);

  const RunSettings settings;
  RunStatus run;
  MemberTable members;
  Planner planner;
  Judge judge;
  Dispatcher dispatcher;
  HolderBook holders;
  AuditDesk audits;
  TimePoint swept{};
  TimePoint advanced{};  // the last look at whether a plan is due

 private:
  void sweep(TimePoint now, WallTime wall, Ops& ops);
  void decide_rounds(TimePoint now, WallTime wall, Ops& ops);
  void conclude_evaluation(TimePoint now, WallTime wall, Ops& ops);
  void compare_holders(TimePoint now);
  void conclude_audits(TimePoint now, WallTime wall, Ops& ops);
  void drop_failed_plan(TimePoint now, WallTime wall);
  void charge_absentees(TimePoint now, const std::set<PeerId>& unseen);
  void settle_absence(bool in_time, Member& member, const wire::Heartbeat& heartbeat, Ops& ops);
  [[nodiscard]] bool is_excused(Absences& away, RoundIndex round) const;
  void go_on_from(TimePoint now, const Decision& decision, Ops& ops);
  void give_up(const GroupId& group);
  void adopt(TimePoint now, const StateAdopted& adopted, Ops& ops);
  void enter_round(TimePoint now, RoundIndex round, const Digest& canonical, const std::vector<PeerId>& averaged,
                   Ops& ops);
  void complete_if_done(Ops& ops);
  void judge_members(Ops& ops);
};

Status RunCoordinator::Impl::check_run(const RunId& run_id) const {
  const RunId& own = settings.manifest.run_id;
  if (run_id == own) return {};
  return Error{ErrorCode::not_found, fmt::format("run '{}' is not served here; '{}' is", run_id, own)};
}

Planner::Situation RunCoordinator::Impl::planning(TimePoint now) const {
  return {now, run, judge.reports(), dispatcher.evaluation(), judge.credit().rounds_pending()};
}

Judge::Situation RunCoordinator::Impl::judging(TimePoint now, WallTime wall) const {
  return {now, wall, run, members, planner.plan(), audits.final_below(run.round)};
}

// Notes the member as its call shows it.
Member& RunCoordinator::Impl::take_call(TimePoint now, const MemberIdentity& who, const wire::Heartbeat& heartbeat,
                                        HeartbeatDecision& decision) {
  const Member* known = members.find(who.peer);
  const bool in_time = known != nullptr && !missed_its_call(*known, now);
  Member& member = members.touch(now, who, heartbeat);
  settle_absence(in_time, member, heartbeat, decision.ops);
  member.standing = judge.standing_of(who.peer);
  audits.judge(run.round, member);
  member.voice = settings.known_hosts.standing_of(who.account).voice;
  audits.on_call(who.peer, heartbeat);
  if (const auto late = planner.on_call(now, member)) run.rhythm.on_arrival(*late);
  decision.dial_back = dispatcher.on_call(now, members, member, heartbeat);
  holders.on_call(member, heartbeat, run.canonical);
  members.judge(now, member, run.canonical);
  if (const auto took = JoinGrace::on_call(now, run, member)) run.rhythm.on_catching_up(*took);
  return member;
}

void RunCoordinator::Impl::answer(TimePoint now, Member& member, const wire::Heartbeat& heartbeat,
                                  HeartbeatDecision& decision) {
  const Outlook outlook = planner.outlook(planning(now), members, member);
  if (outlook.group && outlook.group->round == run.round) member.seat.told = true;
  const Dispatcher::Situation at{now, run, members, judge.credit(), outlook};
  decision.reply = dispatcher.answer(at, member, heartbeat, decision.ops);
  decision.reply.notice = Dispatcher::notice(at, member);
  decision.reply.kept.challenge = holders.challenge();
  decision.reply.kept.audits = audits.due(run.round, member.who.peer, judge.credit().not_final(member.who.account));
  audits.bind(decision.reply);
  if (heartbeat.trust.state_proof_wanted) decision.reply.kept.state_proof = judge.chain().proof();
}

void RunCoordinator::Impl::say_goodbye(const PeerId& peer) {
  dispatcher.on_goodbye(peer);
  members.remove(peer);
  planner.on_goodbye();
}

void RunCoordinator::Impl::advance(TimePoint now, WallTime wall, Ops& ops) {
  advanced = now;
  decide_rounds(now, wall, ops);
  if (now - swept >= kSweepInterval) {
    sweep(now, wall, ops);
    decide_rounds(now, wall, ops);
  }
  std::optional<SeatedGroup> seated = planner.make_plan(planning(now), members);
  if (!seated) return;
  ops.emplace_back(GroupSeated{*seated});
  judge.seat(std::move(*seated));
}

void RunCoordinator::Impl::sweep(TimePoint now, WallTime wall, Ops& ops) {
  swept = now;
  members.forget_silent(now, settings.options.heartbeats.forget_floor, settings.options.patience);
  dispatcher.sweep(now, members);
  holders.sweep(now);
  compare_holders(now);
  conclude_evaluation(now, wall, ops);
  conclude_audits(now, wall, ops);
  members.end_assumptions(now, run.canonical);
  for (const GroupId& hopeless : judge.sweep(judging(now, wall))) give_up(hopeless);
  if (run.round > 0) {  // everybody makes the state of round 0
    const auto adopted = judge.find_lost_state(judging(now, wall), dispatcher.checkpoint().newest());
    if (adopted) {
      adopt(now, *adopted, ops);
      state(wall, wire::StatementCause::loss, ops);
    }
  }
  drop_failed_plan(now, wall);
}

void RunCoordinator::Impl::conclude_evaluation(TimePoint now, WallTime wall, Ops& ops) {
  const auto verdict = dispatcher.conclude_evaluation(now, run, members, planner.plan() != nullptr);
  if (!verdict) return;
  for (const EvaluationFigure& figure : verdict->believed) {
    ops.emplace_back(
        EvaluationStored{verdict->round, figure.peer, figure.bits_per_byte, figure.bytes, figure.accuracy, wall});
  }
  for (const PeerId& peer : verdict->outvoted) judge.on_false_word(run.round, peer);
}

void RunCoordinator::Impl::conclude_audits(TimePoint now, WallTime wall, Ops& ops) {
  const std::size_t before = ops.size();
  for (const PeerId& peer : audits.sweep(now, wall, members, ops)) judge.on_false_word(run.round, peer);
  if (ops.size() > before) judge_members(ops);
}

// Right after a restart a few members may be most of those that have called.
void RunCoordinator::Impl::compare_holders(TimePoint now) {
  const std::vector<PeerId> liars = holders.compare(now, members, run.canonical);
  if (run.restarted_within(settings.options.patience.settle, now)) return;
  for (const PeerId& peer : liars) judge.on_false_word(run.round, peer);
}

void RunCoordinator::Impl::drop_failed_plan(TimePoint now, WallTime wall) {
  const Plan* plan = planner.plan();
  if (plan == nullptr || now < plan->start) return;
  const GroupId group = plan->id;
  if (!planner.has_failed(planning(now), members) && !judge.is_hopeless(judging(now, wall), group)) return;
  charge_absentees(now, {});
  judge.withdraw(group, run.round);
  give_up(group);
}

void RunCoordinator::Impl::give_up(const GroupId& group) {
  planner.give_up(group);
  run.follows_round = false;
}

void RunCoordinator::Impl::decide_rounds(TimePoint now, WallTime wall, Ops& ops) {
  while (run.state != wire::RunState::complete && judge.credit().rounds_pending() < kRoundsAheadMax) {
    const std::optional<Decision> decision = judge.decide(judging(now, wall), dispatcher.leases(), ops);
    if (!decision) return;
    audits.on_decided(now, {run.round, run.canonical, planner.plan(), *decision}, members, dispatcher.leases());
    go_on_from(now, *decision, ops);
    complete_if_done(ops);
  }
}

// Members that were waited for long and did not begin pay like one that crashed, and for the others' time when their
// next call shows that they could have come. The others have told already of those that said that they averaged.
void RunCoordinator::Impl::charge_absentees(TimePoint now, const std::set<PeerId>& unseen) {
  for (const Planner::Absentee& absentee : planner.absentees(planning(now), members, unseen)) {
    Absences& away = *members.absences_of(absentee.peer);
    away.last = run.round;
    away.called_on = absentee.calls_on;
    away.said_so = absentee.said_so;
    away.stayed_away = true;
    if (!absentee.said_so) judge.on_absence(run.round, absentee.peer, 0);
    if (absentee.calls_on) {
      if (!away.open) away.open = Absences::Open{run.round, absentee.rounds};
    } else if (!is_excused(away, run.round)) {
      judge.on_absence(run.round, absentee.peer, absentee.rounds);
    }
  }
}

// A member that calls on time has its answers, and stayed away, unless it has come in the meantime: too late, as one
// does whose answer took long.
void RunCoordinator::Impl::settle_absence(bool in_time, Member& member, const wire::Heartbeat& heartbeat, Ops& ops) {
  const std::optional<Absences::Open> absence = std::exchange(member.away.open, std::nullopt);
  if (!absence) return;
  const bool has_come = heartbeat.phase == wire::MemberPhase::averaging || heartbeat.state_round > absence->round;
  if ((!in_time || has_come) && is_excused(member.away, absence->round)) return;
  judge.on_absence(absence->round, member.who.peer, absence->rounds);
  judge_members(ops);  // it may be out of the next plan
}

// Computers crash, and answers are lost, now and then. Who is away like that again and again is no help to the others.
bool RunCoordinator::Impl::is_excused(Absences& away, RoundIndex round) const {
  std::erase_if(away.excused, [this](RoundIndex then) { return then + kRemembered < run.round; });
  if (away.excused.size() >= kExcusesMax) return false;
  away.excused.push_back(round);
  return true;
}

void RunCoordinator::Impl::go_on_from(TimePoint now, const Decision& decision, Ops& ops) {
  for (const PeerId& peer : decision.contributors) {
    if (PlannedSeat* seat = members.seat_of(peer)) seat->attended = true;  // whether its word of that has come or not
    if (Absences* away = members.absences_of(peer)) away->stayed_away = false;
    if (Member* member = members.find(peer)) member->met_in = run.round;
  }
  std::set<PeerId> unseen = judge.unseen_by_most(run.round, decision.group);
  for (const PeerId& peer : decision.contributors) unseen.erase(peer);
  charge_absentees(now, unseen);
  const bool dealt = decision.origin == SeatedGroup::Origin::dealt;
  if (dealt) {
    if (run.follows_round) {
      run.rhythm.on_round(now - run.round_began);
      members.note_credit(decision.credited, now - run.round_began);
    }
    run.rhythm.on_averaging(from_ms(decision.averaging_ms));
    const auto fill = planner.fill_of(decision.group, decision.samples, planner.lead(run, members));
    if (fill) run.rhythm.on_filled(fill->later_s, fill->batch_s);
  }
  run.follows_round = dealt && run.state == wire::RunState::running;
  planner.on_decided(decision.group, decision.averaged.size());
  enter_round(now, run.round + 1, decision.state_digest, decision.averaged, ops);
}

void RunCoordinator::Impl::adopt(TimePoint now, const StateAdopted& adopted, Ops& ops) {
  run.follows_round = false;
  planner.on_adopted();
  enter_round(now, adopted.round, adopted.state_digest, {}, ops);
  ops.emplace_back(adopted);
}

void RunCoordinator::Impl::state(WallTime wall, wire::StatementCause cause, Ops& ops) {
  ChainGrowth growth = judge.chain().state(wall, cause, run.round, run.canonical);
  if (!growth.statement.empty()) ops.emplace_back(StateStated{std::move(growth)});
}

void RunCoordinator::Impl::enter_round(TimePoint now, RoundIndex round, const Digest& canonical,
                                       const std::vector<PeerId>& averaged, Ops& ops) {
  run.round = round;
  run.canonical = canonical;
  run.round_began = now;
  members.forget_gone(round - kRemembered);
  compare_holders(now);
  judge.begin_round(run, members, ops);
  audits.judge(run.round, members);
  members.judge(now, canonical, averaged, now + std::clamp(run.rhythm.round, kAssumedMin, kAssumedMax));
}

void RunCoordinator::Impl::judge_members(Ops& ops) {
  judge.judge_members(run.round, members, ops);
  audits.judge(run.round, members);
}

void RunCoordinator::Impl::complete_if_done(Ops& ops) {
  const RoundIndex rounds_max = settings.manifest.rounds_max;
  if (rounds_max <= 0 || run.round < rounds_max || run.state == wire::RunState::complete) return;
  run.state = wire::RunState::complete;
  ops.emplace_back(RunStateChanged{run.state});
}

RunCoordinator::RunCoordinator(const wire::RunManifest& manifest, std::int64_t vector_floats,
                               const RecoveredRun& recovered, const KnownHosts& known_hosts,
                               const CoordinatorOptions& options)
    : impl_(std::make_unique<Impl>(manifest, vector_floats, recovered, known_hosts, options)) {}
RunCoordinator::~RunCoordinator() = default;

HeartbeatDecision RunCoordinator::on_heartbeat(TimePoint now, WallTime wall, const MemberIdentity& who,
                                               const wire::Heartbeat& heartbeat) {
  Impl& impl = *impl_;
  HeartbeatDecision decision;
  if (const Status served = impl.check_run(heartbeat.run_id); !served.ok()) {
    decision.refusal = served.error();
    return decision;
  }
  if (const Status able = impl.audits.can_take_part(heartbeat); !able.ok()) {
    decision.refusal = able.error();
    return decision;
  }
  auto assigned = impl.dispatcher.admit(who.peer, impl.run.round, impl.members);
  if (!assigned.ok()) {
    decision.refusal = assigned.error();
    return decision;
  }
  if (assigned->has_value()) {
    (*assigned)->wall = wall;
    decision.ops.emplace_back(**assigned);
  }
  if (impl.run.started == kNever) impl.run.started = impl.run.round_began = impl.swept = now;

  std::string refused;  // the first report's reason
  for (const wire::RoundReport& report : heartbeat.reports) {
    std::string why = impl.judge.on_report(impl.judging(now, wall), who.peer, report, decision.ops);
    if (refused.empty()) refused = std::move(why);
  }
  for (const wire::RoundTrouble& trouble : heartbeat.trust.troubles) {
    std::string why = impl.judge.on_trouble(impl.judging(now, wall), impl.members, who.peer, trouble, decision.ops);
    if (refused.empty()) refused = std::move(why);
    impl.audits.judge(impl.run.round, impl.members);
  }
  Member& member = impl.take_call(now, who, heartbeat, decision);
  impl.advance(now, wall, decision.ops);
  impl.judge.note_results(impl.judging(now, wall), member, heartbeat);
  impl.answer(now, member, heartbeat, decision);
  decision.reply.server_unix_ms = wall.unix_ms;
  if (!refused.empty()) decision.reply.notice = std::move(refused);
  if (heartbeat.phase == wire::MemberPhase::leaving) impl.say_goodbye(who.peer);
  return decision;
}

std::vector<StoreOp> RunCoordinator::on_timer(TimePoint now, WallTime wall) {
  std::vector<StoreOp> ops;
  if (impl_->run.started != kNever) impl_->advance(now, wall, ops);
  return ops;
}

TimePoint RunCoordinator::next_deadline() const {
  const Impl& impl = *impl_;
  const bool reported = impl.judge.reports().first_at(impl.run.round) != kNever;
  if (impl.run.started == kNever || (impl.members.all().empty() && !reported)) return kNever;
  const TimePoint sweep = impl.swept + kSweepInterval;
  const TimePoint due = impl.planner.due_at(impl.planning(impl.swept), impl.members);
  if (due == kNever) return sweep;
  // A look that found nobody to plan with is not repeated at once.
  return std::min(sweep, std::max(impl.advanced + impl.settings.options.heartbeats.min, due));
}

std::vector<StoreOp> RunCoordinator::state_again(WallTime wall) {
  std::vector<StoreOp> ops;
  impl_->state(wall, wire::StatementCause::start, ops);
  return ops;
}

void RunCoordinator::on_stored(RoundIndex round) {
  CreditBook& credit = impl_->judge.credit();
  credit.on_stored(round);
  credit.finalize(impl_->audits.active() ? impl_->audits.final_below(round) : round + 1);
  if (LeaseBook* leases = impl_->dispatcher.leases()) leases->on_round_stored(round);
}

void RunCoordinator::on_refused(RoundIndex round) {
  impl_->judge.credit().on_refused(round);
  if (LeaseBook* leases = impl_->dispatcher.leases()) leases->on_round_refused(round);
}

Result<std::vector<StoreOp>> RunCoordinator::on_unusable(const MemberIdentity& who,
                                                         const wire::UnusableSamples& samples) {
  STARLING_TRY(impl_->check_run(samples.run_id));
  return impl_->dispatcher.on_unusable(who, samples);
}

void RunCoordinator::on_leases_stored(const LeasesDealt& dealt) { impl_->dispatcher.leases()->on_stored(dealt); }
void RunCoordinator::on_leases_refused(const LeasesDealt& dealt) { impl_->dispatcher.leases()->on_refused(dealt); }
void RunCoordinator::on_taken_back(AccountId account, SampleCount samples) {
  impl_->judge.credit().take_back(account, samples);
}
void RunCoordinator::set_credited(const std::vector<AccountSamples>& sums) { impl_->judge.credit().replace(sums); }

void RunCoordinator::on_dialled_back(TimePoint now, const wire::Endpoint& tested, bool reached) {
  Member* member = impl_->members.find(tested.peer);
  if (member != nullptr) impl_->dispatcher.on_dialled_back(now, *member, tested, reached);
}

bool RunCoordinator::uses_operator_relay(const PeerId& peer) const {
  return impl_->dispatcher.uses_operator_relay(peer);
}

std::optional<RelayShare> RunCoordinator::operator_relay_share(const PeerId& a, const PeerId& b) const {
  const auto& members = impl_->members.all();
  if (!members.contains(a) || !members.contains(b)) return std::nullopt;
  if (!uses_operator_relay(a) && !uses_operator_relay(b)) return std::nullopt;
  return RelayShare{impl_->run.round, wire::relay_bytes_per_round(impl_->settings.vector_floats)};
}

std::optional<CheckpointWanted> RunCoordinator::on_checkpoint_piece(TimePoint now, const PeerId& peer) {
  const CheckpointTurn::Turn* turn = impl_->dispatcher.checkpoint().heard(now, peer);
  if (turn == nullptr) return std::nullopt;
  const wire::RunManifest& manifest = impl_->settings.manifest;
  const auto bytes = static_cast<std::int64_t>(wire::state_size(manifest) * sizeof(float));
  return CheckpointWanted{manifest.run_id, turn->round, turn->state_digest, bytes};
}

void RunCoordinator::on_checkpoint_kept(TimePoint now, const wire::Checkpoint& checkpoint) {
  impl_->dispatcher.checkpoint().kept(now, checkpoint);
}

void RunCoordinator::on_checkpoint_failed(TimePoint now, const PeerId& peer) {
  impl_->dispatcher.checkpoint().given_up(now, peer);
}

void RunCoordinator::set_state(wire::RunState state) {
  if (impl_->run.state != wire::RunState::complete) impl_->run.state = state;
}

SwarmView RunCoordinator::view(TimePoint now) const {
  const Impl& impl = *impl_;
  const WeightForecast& forecast = impl.members.forecast();
  SwarmView view;
  view.state = impl.run.state;
  view.round = impl.run.round;
  view.target_batch_size = impl.settings.manifest.target_batch_size;
  view.samples_accumulated = std::min(sendable(forecast.expected(now)), view.target_batch_size);
  view.samples_per_s = impl.run.state == wire::RunState::running ? forecast.samples_per_s() : 0;
  view.swarm_size = static_cast<int>(impl.members.all().size());
  for (const auto& [peer, member] : impl.members.all()) {
    view.ready += member.ready() && member.works() ? 1 : 0;
    view.less_relied_on += member.standing.reliance < 1 ? 1 : 0;
    view.sitting_out += member.is_out() ? 1 : 0;
    view.direct += member.dialable() ? 1 : 0;
    view.relayed += !member.dialable() && wire::dialable(member.endpoint()) ? 1 : 0;
  }
  view.phase = impl.planner.phase(now);
  view.plan = impl.planner.reason();
  return view;
}

FailingMembers RunCoordinator::failing() const { return impl_->members.failing(); }

DeviceSums RunCoordinator::device_sums() const { return impl_->members.device_sums(); }

DevicesInUse RunCoordinator::devices() const { return impl_->members.devices(); }

std::vector<ClassFigures> RunCoordinator::numeric_classes() const { return impl_->audits.classes(); }

std::vector<PeerId> RunCoordinator::holders() const {
  std::vector<PeerId> holders;
  for (const auto& [peer, member] : impl_->members.all()) {
    if (member.ready() && member.reported.phase != wire::MemberPhase::paused) holders.push_back(peer);
  }
  return holders;
}

wire::Endpoint RunCoordinator::endpoint_of(const PeerId& peer) const {
  const Member* const member = impl_->members.find(peer);
  return member != nullptr ? member->endpoint() : wire::Endpoint{peer, "", 0};
}

std::vector<swarm::Host> RunCoordinator::hosts() const {
  std::vector<Speeds> computing;
  std::vector<swarm::Link> links;
  std::vector<double> round_trips_s;
  for (const auto& [peer, member] : impl_->members.all()) {
    const Speeds& speeds = member.speeds;
    if (speeds.samples_per_s <= 0) continue;
    computing.push_back(speeds);
    links.push_back({speeds.upload_bytes_per_s, speeds.download_bytes_per_s, member.dialable()});
    round_trips_s.push_back(speeds.round_trip_s);
  }
  links = swarm::with_typical_speeds(links);
  const std::vector<double> delays_s = swarm::delays_of(round_trips_s);
  const double departures_per_s = impl_->members.departures_per_s();
  std::vector<swarm::Host> hosts;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].upload <= 0 || links[i].download <= 0) continue;
    hosts.push_back({links[i], computing[i].samples_per_s, delays_s[i], computing[i].batch_jitter, departures_per_s});
  }
  return hosts;
}

}  // namespace starling::core
