#include "coordinator/core/planner.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "coordinator/core/part_limits.h"
#include "shared/base/permutation.h"
#include "shared/base/upper_median.h"
#include "shared/run/round_parts.h"
#include "shared/swarm/formation_choice.h"
#include "shared/swarm/grid_plan.h"
#include "shared/swarm/roles.h"

namespace starling::core {
namespace {

// fraction of the lead, for the reply's way and the member's own preparation
constexpr double kStartAfterLastCall = 0.3;

// A deferred member may take this multiple of the time that its line was expected to need for the result.
constexpr double kDeferredPatience = 1.5;
constexpr SampleCount kCreditedBatchesMax = 4;
// A group waits for a batch this many times as long as the usual one, or this fraction of a round, or this long.
constexpr double kBatchesWaited = 4;
constexpr double kRoundsWaited = 0.5;
constexpr Duration kBatchWaitFloor = std::chrono::seconds(2);
// A member that begins later than these batches of its own, and this time, explain has heard of the plan late, or its
// call was lost.
constexpr double kArrivalBatches = 1.5;
constexpr Duration kArrivalFloor = std::chrono::seconds(1);
// Waiting for nobody costs a good part of a round from this fraction on.
constexpr double kCostlyWait = 0.25;
constexpr double kRoundMinS = 0.001;
constexpr RoundIndex kRoundsDoubted = 8;  // a member that said falsely that it averages is not believed for as long
constexpr double kBatchMaxS = 30.0 * 24 * 3600;  // keeps time arithmetic in range

// Figures for the choice between one group and a grid, from docs/averaging.md.
constexpr double kStageSeconds = 0.3;  // for every group, however small: to hear of it, to begin, to agree at the end
constexpr double kPartnerSeconds = 0.001;  // for every other member of a group: its link, a dozen frames

std::uint64_t draw(const PeerId& peer, RoundIndex round) {
  std::uint64_t word = 0;
  std::memcpy(&word, peer.bytes.data(), sizeof word);
  return mix64(word ^ mix64(static_cast<std::uint64_t>(round)));
}

std::vector<wire::MemberInfo> infos_of(const std::vector<Member*>& members) {
  std::vector<wire::MemberInfo> infos;
  for (const Member* member : members) infos.push_back(member->info());
  return infos;
}

// Returns what others have seen of these members' lines, where enough have (part_limits.h).
swarm::SeenLines seen_lines(const std::vector<Member*>& members) {
  const Witnesses witnesses(members);
  swarm::SeenLines lines;
  for (const Member* member : members) {
    const double rate = witnesses.have_seen(*member) ? member->speeds.seen_upload.bytes_per_s : 0;
    lines[member->who.peer] = {rate, member->voice};
  }
  return lines;
}

// Returns the members for a plan of one group, or of this many columns of a grid, with the most that each may own of
// it. `coming`: members that may come to it late.
std::vector<wire::MemberInfo> infos_of(const std::vector<Member*>& members, std::size_t columns, std::size_t coming) {
  std::vector<wire::MemberInfo> infos = infos_of(members);
  const std::vector<double> limits = part_limits(members, columns, coming);
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i].share_max = limits[i];
  return infos;
}

bool any_direct(const std::vector<Member*>& members) {
  return std::any_of(members.begin(), members.end(),
                     [](const Member* member) { return wire::direct(member->endpoint()); });
}

// True if all of them have links with each other, so that an arrival is not a new link's. No time for new links is
// given to members that the others could not rely on lately.
bool have_met(const std::vector<Member*>& members, RoundIndex round) {
  return std::all_of(members.begin(), members.end(),
                     [&](const Member* member) { return member->met_in + 1 == round || member->standing.rounds > 0; });
}

// True if a member is known to work on a result of the round in work, and has not fallen silent.
bool somebody_averages(const Planner::Situation& at, const MemberTable& members) {
  return std::any_of(members.all().begin(), members.all().end(), [&](const auto& entry) {
    const Member& member = entry.second;
    return member.averages() && member.reported.state_round == at.run.round && !member.deferred() &&
           !missed_its_call(member, at.now) && !at.reports.has_spoken(entry.first, at.run.round);
  });
}

// True for a deferred member of the round before. The others are its only source: they forget the round when the next
// begins.
bool takes_result(const Member& member, TimePoint now, RoundIndex round) {
  return member.deferred() && now < member.seat.result_due && member.averages() &&
         member.reported.state_round + 1 == round;
}

// Numbers the voters: members of one account have one vote together. Only such members get a number.
void number_voters(std::vector<wire::GroupInfo>& groups, const MemberTable& table) {
  std::map<AccountId, int> members;
  const auto each_member = [&groups](const auto& visit) {
    for (wire::GroupInfo& group : groups) {
      for (wire::GroupMember& member : group.members) visit(member);
      if (!group.grid) continue;
      for (wire::GridPlan::Head& head : group.grid->heads) visit(head.member);
    }
  };
  for (const wire::GroupInfo& group : groups) {
    for (const wire::GroupMember& member : group.members) ++members[table.find(member.endpoint.peer)->who.account];
  }
  std::map<AccountId, std::uint32_t> numbers;
  each_member([&](wire::GroupMember& member) {
    const AccountId account = table.find(member.endpoint.peer)->who.account;
    if (members[account] < 2) return;
    member.voter = numbers.try_emplace(account, static_cast<std::uint32_t>(numbers.size() + 1)).first->second;
  });
}

}  // namespace

Planner::Planner(const RunSettings& settings, std::size_t last_group)
    : settings_(settings), grace_(settings), last_group_(last_group) {}

Duration Planner::lead(const RunStatus& run, const MemberTable& members) const {
  return plan_lead(run.rhythm, members.all().size(), settings_.options);
}

// Returns when the batch is expected to be full; kNever when nobody fills it.
TimePoint Planner::full_at(TimePoint now, const RunStatus& run, const MemberTable& members) const {
  const Duration lag = run.rhythm.lag;
  const TimePoint forecast = members.forecast().reaches(settings_.manifest.target_batch_size, now - lag);
  return forecast == kNever ? kNever : forecast + lag;
}

bool Planner::may_plan(const Situation& at) const {
  return at.run.state == wire::RunState::running && plan() == nullptr && !at.run.canonical.is_zero() &&
         at.reports.first_at(at.run.round) == kNever && at.rounds_pending < kRoundsPendingMax &&
         !at.run.restarted_within(settings_.options.patience.settle, at.now);
}

TimePoint Planner::due_at(const Situation& at, const MemberTable& members) const {
  if (!may_plan(at)) return kNever;
  const TimePoint full = full_at(at.now, at.run, members);
  return full == kNever ? kNever : full - lead(at.run, members);
}

std::optional<SeatedGroup> Planner::make_plan(const Situation& at, MemberTable& members) {
  const TimePoint due = due_at(at, members);
  if (due == kNever || due > at.now) return std::nullopt;
  const std::vector<Member*> present = has_quorum(at, members) ? plannable(at, members) : std::vector<Member*>();
  if (!present.empty()) return freeze(at, members, present);
  round_ = Gathering{.waited = true};
  return std::nullopt;
}

// While this coordinator was away, or could not be reached, most of the last group may have gone on by themselves, so
// the first member that is back must not be sent another way. They may be in the middle of it: a member that averages
// in a group of its own making shows that, and the others of that group may not have called yet. Members that never
// come back are waited for once.
bool Planner::has_quorum(const Situation& at, const MemberTable& members) {
  const auto& all = members.all();
  const auto at_hand = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& entry) {
    return !entry.second.averages() && !missed_its_call(entry.second, at.now);
  }));
  if (2 * at_hand > last_group_) {
    short_since_ = kNever;
    return true;
  }
  if (short_since_ == kNever) short_since_ = at.now;
  const CoordinatorOptions& options = settings_.options;
  const Duration patience = somebody_averages(at, members) ? options.patience.reports : options.patience.quorum;
  return at.now >= short_since_ + patience;
}

// Returns how long a batch may be for the others to wait for its end: what members say of their batches is bounded by
// what is usual among them, and by the rounds that the swarm has shown.
Duration Planner::batch_waited_for(const Situation& at, const MemberTable& table) const {
  std::vector<double> batches;
  for (const auto& [peer, member] : table.all()) {
    if (member.counted && member.has_computed() && member.voice) batches.push_back(member.speeds.batch_seconds);
  }
  if (batches.empty()) return settings_.options.plans.averaging_max;
  const double usual_s = std::min(upper_median(std::move(batches)), kBatchMaxS);
  // Members that are here for a short time cannot know of long batches.
  const Duration of_batches = std::min(from_seconds(kBatchesWaited * usual_s), at.now - at.run.started);
  const Duration of_round = from_seconds(kRoundsWaited * to_seconds(at.run.rhythm.round));
  return std::max({kBatchWaitFloor, of_batches, of_round});
}

// Returns the members of a plan made now; empty while it is better to wait for members that are about to call.
std::vector<Member*> Planner::plannable(const Situation& at, MemberTable& table) const {
  std::vector<Member*> members;
  std::size_t averaging = 0;
  const double longest_batch_s = to_seconds(batch_waited_for(at, table));
  for (auto& [peer, member] : table.all()) {
    if (table.is_due(member, at.now)) return {};
    if (missed_its_call(member, at.now)) continue;  // whatever its phase: nobody waits for the dead
    if (takes_result(member, at.now, at.run.round)) return {};
    if (at.now < at.run.round_began + grace_.of(member, at.run)) return {};
    if (member.ready() && at.evaluation.awaits(peer, at.run.round)) {
      if (at.now < at.run.round_began + usual_join_grace(at.run.rhythm, settings_.options)) return {};
      continue;
    }
    if (!member.ready() || !member.counted || !member.has_computed()) continue;
    if (member.averages()) {
      ++averaging;  // in a group of another making, or of a plan given up: it ends soon
    } else if (member.speeds.batch_seconds <= longest_batch_s) {  // the others have a place late (latecomers)
      members.push_back(&member);
    }
  }
  if (averaging > members.size()) return {};
  return members;
}

// Returns the members that did not stay away from the last plan. The others have a place late: whoever comes again is
// waited for again. If they are most of all, or cannot have such a place, all are waited for.
std::vector<Member*> Planner::waited_for(const std::vector<Member*>& members) const {
  if (settings_.manifest.round.low_rank > 0) return members;
  std::vector<Member*> relied_on;
  std::copy_if(members.begin(), members.end(), std::back_inserter(relied_on),
               [](const Member* member) { return !member->away.stayed_away; });
  return 2 * relied_on.size() > members.size() ? relied_on : members;
}

// Returns no more members than a group may have; none when nobody could call anybody, because such a group cannot
// average.
std::vector<Member*> Planner::drawn_group(std::vector<Member*> members, RoundIndex round) const {
  const auto direct = [](const Member* member) { return wire::direct(member->endpoint()); };
  const auto callable = [](const Member* member) { return wire::dialable(member->endpoint()); };
  const bool has_direct = any_direct(members);
  if (members.size() > 1 && std::none_of(members.begin(), members.end(), callable)) return {};
  const std::size_t most = has_direct ? group_members_max() : settings_.options.plans.relayed_members_max;
  if (members.size() <= most) return members;
  const auto drawn = [round](const Member* a, const Member* b) {
    return draw(a->who.peer, round) < draw(b->who.peer, round);
  };
  const auto end = members.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(members.begin(), end, members.end(), drawn);
  const auto owns = [&](const Member* member) { return has_direct ? direct(member) : callable(member); };
  if (std::none_of(members.begin(), end, owns)) std::iter_swap(end - 1, std::find_if(end, members.end(), owns));
  members.erase(end, members.end());
  return members;
}

// Returns members that may come after all: they have missed a call, are about to have the state or their first batch,
// or measure the state. Nobody waits for them, but if they come they need not load the next state.
std::vector<Member*> Planner::latecomers(TimePoint now, MemberTable& members,
                                         const std::vector<Member*>& planned) const {
  const std::size_t most = any_direct(planned) ? group_members_max() : settings_.options.plans.relayed_members_max;
  std::vector<Member*> late;
  if (settings_.manifest.round.low_rank > 0) return late;  // two averagings a round, and both would have to be caught
  for (auto& [peer, member] : members.all()) {
    if (planned.size() + late.size() >= most) break;
    if (member.sits_out(now) || !(member.works() || member.catches_up() || member.evaluates())) continue;
    if (std::find(planned.begin(), planned.end(), &member) == planned.end()) late.push_back(&member);
  }
  return late;
}

std::size_t Planner::group_members_max() const {
  const std::size_t most = settings_.options.plans.group_members_max;
  const auto wanted = static_cast<std::size_t>(settings_.manifest.round.averaging.group_size);
  return wanted > 0 ? std::min(wanted, most) : most;
}

// Returns the columns of the next round's grid; below 2: it is averaged in one group.
std::size_t Planner::columns_for(const std::vector<Member*>& present, const MemberTable& members) const {
  const std::vector<wire::MemberInfo> infos = infos_of(present);
  const wire::RunManifest& manifest = settings_.manifest;
  const wire::RoundOptions& round = manifest.round;
  const wire::Formation formation = round.averaging.formation;
  const bool sparse_results = !wire::carries_results(round.codec);
  if (formation == wire::Formation::one_group || round.low_rank > 0 || sparse_results) return 1;
  const std::size_t group_max = group_members_max();
  if (formation == wire::Formation::grid) return swarm::columns_of(infos, group_max);
  const bool has_direct = std::any_of(infos.begin(), infos.end(),
                                      [](const wire::MemberInfo& member) { return wire::direct(member.endpoint); });
  if (!has_direct) return 1;  // every relay would carry several groups
  swarm::SwarmForecast forecast;
  forecast.peers = infos.size();
  forecast.group_max = group_max;
  const double bytes_per_float = swarm::narrower_codecs(round.codec, false).front().bytes_per_float;
  forecast.vector_bytes = static_cast<double>(settings_.vector_floats) * bytes_per_float;
  forecast.bytes_per_s = swarm::usual_line(infos, seen_lines(present));
  forecast.round_s = kStageSeconds;
  forecast.link_s = kPartnerSeconds;
  forecast.failures_per_s = members.vanishings_per_s();
  forecast.recovery_s = swarm::kRecoverySeconds;
  const double rate = members.forecast().samples_per_s();
  if (rate > 0) forecast.batch_s = static_cast<double>(manifest.target_batch_size) / rate;
  return swarm::choose_columns(forecast, swarm::columns_of(infos, 1));
}

swarm::PlanOptions Planner::options_of(const Situation& at, const MemberTable& members, const Plan& plan,
                                       const std::vector<Member*>& planned) const {
  const wire::RunManifest& manifest = settings_.manifest;
  swarm::PlanOptions options;
  options.run_id = manifest.run_id;
  options.round = at.run.round;
  options.state_digest = at.run.canonical;
  options.vector_floats = settings_.vector_floats;
  options.codec = manifest.round.codec;
  options.contribution_codec = manifest.round.contribution_codec;
  // Factors make up for omissions by themselves, and are small enough for every line: nobody is demoted.
  const bool low_rank = manifest.round.low_rank > 0;
  options.error_feedback = wire::round_traffic(manifest).narrows_contributions;
  options.target_batch_size = low_rank ? 0 : manifest.target_batch_size;
  options.may_leave_out = true;
  options.start_in_ms = to_ms(plan.start - at.now);
  options.heartbeat_jitter_ms = to_ms(lead(at.run, members));
  if (have_met(planned, at.run.round)) options.arrivals_within_ms = to_ms(at.run.rhythm.arrivals_within());
  options.nonce = mix64(settings_.options.nonce + mix64(plan.serial));
  return options;
}

std::optional<SeatedGroup> Planner::freeze(const Situation& at, MemberTable& members,
                                           const std::vector<Member*>& present) {
  const std::size_t columns = columns_for(present, members);
  const std::vector<Member*> planned = columns < 2 ? drawn_group(waited_for(present), at.run.round) : present;
  if (planned.empty()) return std::nullopt;
  Plan plan;
  plan.serial = ++plans_made_;
  plan.start = std::max(at.now, full_at(at.now, at.run, members));
  const Duration after_call = from_seconds(kStartAfterLastCall * to_seconds(lead(at.run, members)));
  for (const Member* member : planned) {
    // A member that is calling at this moment hears at once.
    if (member->seen != at.now) plan.start = std::max(plan.start, member->next_call() + after_call);
  }
  swarm::PlanOptions options = options_of(at, members, plan, planned);
  std::vector<double> ready_s;
  if (columns < 2) {
    for (const Member* member : latecomers(at.now, members, planned)) options.latecomers.push_back(member->endpoint());
    swarm::RoundPlan made = swarm::plan_round(infos_of(planned, 1, options.latecomers.size()), options);
    plan.id = made.group.id;
    plan.groups.push_back(std::move(made.group));
    ready_s = std::move(made.ready_s);
    for (const PeerId& peer : made.left_out)
      members.find(peer)->left_out_until = at.now + settings_.options.plans.left_out_for;
  } else {
    plan.groups = swarm::plan_grid(infos_of(planned, columns, 0), options, columns, seen_lines(planned)).columns;
    plan.id = plan.groups.front().grid->id;
  }
  const bool waited = std::get<Gathering>(round_).waited;
  grace_.on_planned(at.now, at.run, members, waited);
  plan.begin_by = plan.start + from_ms(plan.groups.front().begin_within_ms);
  number_voters(plan.groups, members);
  SeatedGroup seated = seat(at, members, plan, ready_s);
  planned_rate_ = members.forecast().samples_per_s();
  reason_ = plan.groups.front().reason;
  round_ = std::move(plan);
  return seated;
}

// Says how many samples each member is believed to bring. Members on probation are believed a quarter of all together,
// in equal parts, unless nobody else is in the plan.
void Planner::limit_weights(const MemberTable& members, Plan& plan) const {
  const SampleCount micro_batch = settings_.manifest.micro_batch_size;
  const SampleCount most = kCreditedBatchesMax * settings_.manifest.target_batch_size + micro_batch;
  Forecast established;
  bool any_established = false;
  SampleCount on_probation = 0;
  for (const wire::GroupInfo& group : plan.groups) {
    for (const wire::GroupMember& planned : group.members) {
      const Member& member = *members.find(planned.endpoint.peer);
      if (!member.voice) ++on_probation;
      if (!member.voice || member.late()) continue;
      any_established = true;
      established.add(member.counted.value());
    }
  }
  const double together = kProbationShare / (1 - kProbationShare) * established.expected(plan.start);
  for (wire::GroupInfo& group : plan.groups) {
    for (wire::GroupMember& planned : group.members) {
      const Member& member = *members.find(planned.endpoint.peer);
      planned.weight_max = std::min(members.samples_max(member, plan.begin_by, micro_batch), most);
      if (member.voice || !any_established) continue;
      const auto part = static_cast<SampleCount>(together / static_cast<double>(on_probation));
      planned.weight_max = std::clamp<SampleCount>(part, 1, planned.weight_max);
    }
  }
}

// Gives the members their places in the plan. Returns the accounts that decide the round by it.
SeatedGroup Planner::seat(const Situation& at, MemberTable& members, Plan& plan,
                          const std::vector<double>& ready_s) const {
  SeatedGroup seated{SeatedGroup::Origin::dealt, plan.id, at.run.round, {}, 0};
  WeightForecast forecast;
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    std::vector<Seat>& seats = seated.columns.emplace_back();
    for (std::size_t rank = 0; rank < plan.groups[group].members.size(); ++rank) {
      const wire::GroupMember& planned = plan.groups[group].members[rank];
      Member& member = *members.find(planned.endpoint.peer);
      seats.push_back({planned.endpoint.peer, member.who.account, planned.role, member.voice});
      member.seat = {.plan = plan.serial, .group = group, .role = planned.role};
      if (!member.late()) forecast.add(member.counted.value());
      if (!member.deferred()) continue;
      const Duration patience =
          std::min(from_seconds(kDeferredPatience * ready_s[rank]), settings_.options.plans.averaging_max);
      member.seat.result_due = plan.begin_by + patience;
    }
  }
  let_somebody_decide(seated);
  const auto target = static_cast<double>(settings_.manifest.target_batch_size);
  const double swarm_samples_per_s = members.forecast().samples_per_s();
  plan.samples_per_s = forecast.samples_per_s();
  const double expected_samples = forecast.expected(plan.start - at.run.rhythm.lag);
  if (std::get<Gathering>(round_).waited) {
    plan.samples = expected_samples;
  } else if (swarm_samples_per_s > 0) {
    plan.samples = std::min(target * plan.samples_per_s / swarm_samples_per_s, expected_samples);
  }
  // Nobody brings much more than all together were expected to, had they worked until the last moment to begin.
  const double waited_s = to_seconds(plan.begin_by - plan.start);
  const auto expected =
      static_cast<SampleCount>(std::min(members.forecast().expected(plan.start) + swarm_samples_per_s * waited_s,
                                        static_cast<double>(kMemberSamplesMax)));
  seated.samples_max = std::min(kCreditedBatchesMax * std::max(settings_.manifest.target_batch_size, expected) +
                                    settings_.manifest.micro_batch_size,
                                kMemberSamplesMax);
  limit_weights(members, plan);
  return seated;
}

// The accounts of a plan may also come to no decision any more; Judge sees that.
bool Planner::has_failed(const Situation& at, const MemberTable& members) const {
  const Plan* plan = this->plan();
  if (plan == nullptr || at.now < plan->start) return false;
  if (at.now > plan->start + settings_.options.plans.averaging_max) return true;
  const bool reported = at.reports.first_of(at.run.round, plan->id) != kNever;
  const bool averaging = std::any_of(members.all().begin(), members.all().end(), [&](const auto& entry) {
    const Member& member = entry.second;
    return member.seat.plan == plan->serial && member.averages() && !missed_its_call(member, at.now);
  });
  return at.now > plan->begin_by + kBeginSlack && !averaging && !reported;
}

Outlook Planner::outlook(const Situation& at, const MemberTable& members, const Member& member) const {
  Outlook outlook;
  outlook.lead = lead(at.run, members);
  outlook.full = full_at(at.now, at.run, members);
  outlook.planned_samples_per_s = planned_rate_;
  outlook.loads_in_vain = grace_.loads_in_vain(member, at.run);
  const Plan* plan = this->plan();
  if (plan != nullptr) {
    outlook.start = plan->start;
    outlook.awaited = member.seat.plan == plan->serial && !member.late();
  }
  if (const wire::GroupInfo* group = group_for(at, member)) {
    outlook.group = group->grid ? swarm::place_in(*group, member.who.peer) : *group;
    const bool is_plan = group->round == at.run.round;
    outlook.group->start_in_ms = is_plan ? std::max<std::int64_t>(0, to_ms(plan->start - at.now)) : 0;
  }
  return outlook;
}

// A member has no use for the plan once it has begun. A member that comes too late for the plan, or even for its end,
// may have the result as long as the others keep it: until they begin the next. Columns of a grid keep none.
const wire::GroupInfo* Planner::group_for(const Situation& at, const Member& member) const {
  if (member.averages()) return nullptr;
  const Plan* plan = this->plan();
  if (plan != nullptr && member.seat.plan == plan->serial && member.ready()) {
    if (member.seat.attended) return nullptr;
    const bool in_time = at.now <= plan->begin_by && at.reports.first_of(at.run.round, plan->id) == kNever;
    return in_time || plan->groups.size() == 1 ? &plan->groups[member.seat.group] : nullptr;
  }
  if (!ended_ || (plan != nullptr && at.now >= plan->start)) return nullptr;
  const Reported& reported = member.reported;
  if (reported.state_round != ended_->round || reported.state_digest != ended_->state_digest) return nullptr;
  if (member.results.state == Results::State::open || !member.works()) return nullptr;
  // It is in that result, with another process than the one that calls.
  if (member.met_in == ended_->round) return nullptr;
  const auto is_it = [&](const wire::GroupMember& one) { return one.endpoint.peer == member.who.peer; };
  return std::any_of(ended_->members.begin(), ended_->members.end(), is_it) ? &*ended_ : nullptr;
}

std::optional<Duration> Planner::on_call(TimePoint now, Member& member) {
  const Plan* plan = this->plan();
  if (plan == nullptr || member.seat.plan != plan->serial || !member.averages()) return std::nullopt;
  if (!member.seat.told) return std::nullopt;  // the call was long on its way
  const bool is_first = !std::exchange(member.seat.attended, true);
  const Absences& away = member.away;
  const bool doubted = away.said_so && member.reported.state_round <= away.last + kRoundsDoubted;
  if (!doubted) member.away.stayed_away = false;
  if (!is_first || member.late()) return std::nullopt;
  const Duration late = now - plan->start;
  const Duration of_batch = from_seconds(kArrivalBatches * std::min(member.speeds.batch_seconds, kBatchMaxS));
  if (late > kArrivalFloor + of_batch) return std::nullopt;
  return late;
}

std::vector<Planner::Absentee> Planner::absentees(const Situation& at, const MemberTable& members,
                                                  const std::set<PeerId>& unseen) const {
  std::vector<Absentee> absent;
  const Plan* plan = this->plan();
  if (plan == nullptr || at.now <= plan->begin_by) return absent;
  const Duration usual = at.run.rhythm.round > Duration{} ? at.run.rhythm.round : plan->start - at.run.round_began;
  const double rounds = to_seconds(plan->begin_by - plan->start) / std::max(to_seconds(usual), kRoundMinS);
  if (rounds < kCostlyWait) return absent;
  const auto look = [&](const PeerId& peer, const PlannedSeat& seat, bool calls_on) {
    if (seat.plan != plan->serial || seat.role == wire::MemberRole::late) return;
    if (!seat.attended || unseen.contains(peer)) absent.push_back({peer, rounds, calls_on, seat.attended});
  };
  for (const auto& [peer, member] : members.all()) {
    look(peer, member.seat, member.works() && !missed_its_call(member, at.now));
  }
  for (const auto& [peer, member] : members.gone()) look(peer, member.seat, false);
  return absent;
}

void Planner::on_goodbye() {
  if (last_group_ > 0) --last_group_;
}

void Planner::on_decided(const GroupId& group, std::size_t averaged) {
  last_group_ = averaged;
  ended_.reset();
  auto* plan = std::get_if<Plan>(&round_);
  if (plan != nullptr && plan->id == group && plan->groups.size() == 1) ended_ = std::move(plan->groups.front());
  round_ = Gathering{};
}

void Planner::on_adopted() {
  ended_.reset();
  round_ = Gathering{};
}

void Planner::give_up(const GroupId& group) {
  const Plan* plan = this->plan();
  if (plan != nullptr && plan->id == group) round_ = Gathering{.waited = true};
}

RoundPhase Planner::phase(TimePoint now) const {
  if (const Plan* plan = this->plan()) return now >= plan->start ? RoundPhase::averaging : RoundPhase::announced;
  return std::get<Gathering>(round_).waited ? RoundPhase::waiting : RoundPhase::gathering;
}

// A batch that takes less than the lead is full before anybody can hear of the plan: the forecast had no say in it.
std::optional<BatchFill> Planner::fill_of(const GroupId& decided, SampleCount brought, Duration lead) const {
  const Plan* plan = this->plan();
  if (plan == nullptr || plan->id != decided || plan->samples_per_s <= 0) return std::nullopt;
  const double batch_s = plan->samples / plan->samples_per_s;
  if (batch_s < to_seconds(lead) || batch_s > kBatchMaxS) return std::nullopt;
  // Nobody's word about its samples or its rate has been compared yet, or the round waited for long.
  const SampleCount most = kCreditedBatchesMax * settings_.manifest.target_batch_size;
  if (plan->samples > static_cast<double>(most)) return std::nullopt;
  return BatchFill{(plan->samples - static_cast<double>(brought)) / plan->samples_per_s, batch_s};
}

}  // namespace starling::core
