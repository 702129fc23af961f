// When a group averages: the plan is frozen just before the batch is full, and thrown away when it fails.
#include <algorithm>
#include <cstring>
#include <utility>

#include "coordinator/core/run_coordinator_impl.h"
#include "shared/base/permutation.h"
#include "shared/base/upper_median.h"
#include "shared/run/model_layout.h"
#include "shared/run/round_parts.h"
#include "shared/swarm/formation_choice.h"
#include "shared/swarm/grid_plan.h"
#include "shared/swarm/plan.h"
#include "shared/swarm/roles.h"

namespace starling::core {
namespace {

// fraction of the lead, for the reply's way and the member's own preparation
constexpr double kStartAfterLastCall = 0.3;

// A deferred member may take this multiple of the time that its line was expected to need for the result.
constexpr double kDeferredPatience = 1.5;
constexpr SampleCount kCreditedBatchesMax = 4;

// Figures for the choice between one group and a grid, from docs/averaging.md.
constexpr double kStageSeconds = 0.3;  // for every group, however small: to hear of it, to begin, to agree at the end
constexpr double kPartnerSeconds = 0.001;  // for every other member of a group: its link, a dozen frames
constexpr double kUnknownBytesPerS = 1e6;  // assumed for every line while none has been measured

std::uint64_t draw(const PeerId& peer, RoundIndex round) {
  std::uint64_t word = 0;
  std::memcpy(&word, peer.bytes.data(), sizeof word);
  return mix64(word ^ mix64(static_cast<std::uint64_t>(round)));
}

// The rate of a usual member in its slower direction.
double usual_line(std::span<const wire::MemberInfo> members) {
  std::vector<double> lines;
  for (const wire::MemberInfo& member : members) {
    const double line = std::min(member.upload_bytes_per_s, member.download_bytes_per_s);
    if (line > 0) lines.push_back(line);
  }
  return lines.empty() ? kUnknownBytesPerS : upper_median(std::move(lines));
}

}  // namespace

Duration RunCoordinator::Impl::lead() const { return plan_lead(rhythm_, members_.all().size(), options_); }

// Returns when the batch is expected to be full; kNever when nobody fills it.
TimePoint RunCoordinator::Impl::full_at(TimePoint now) const {
  const TimePoint forecast = members_.forecast().reaches(manifest_.target_batch_size, now - rhythm_.lag);
  return forecast == kNever ? kNever : forecast + rhythm_.lag;
}

bool RunCoordinator::Impl::may_plan(TimePoint now) const {
  return state_ == wire::RunState::running && !plan_ && !canonical_.is_zero() && reports_.first_at(round_) == kNever &&
         pending_credit_.size() < kRoundsPendingMax && !(recovered_ && now < started_ + options_.settle);
}

void RunCoordinator::Impl::plan_round(TimePoint now, Ops& ops) {
  if (!may_plan(now)) return;
  const TimePoint full = full_at(now);
  if (full == kNever || full - now > lead()) return;
  const std::vector<Member*> members = has_quorum(now) ? plannable(now) : std::vector<Member*>();
  if (members.empty()) {
    held_ = true;
  } else {
    freeze(now, members, ops);
  }
}

// True if a member is known to work on a result of the current round, and has not fallen silent.
bool RunCoordinator::Impl::somebody_averages(TimePoint now) const {
  return std::any_of(members_.all().begin(), members_.all().end(), [&](const auto& entry) {
    const Member& member = entry.second;
    return member.averages() && member.reported.state_round == round_ && !member.deferred() &&
           !missed_its_call(member, now) && !reports_.has_spoken(entry.first, round_);
  });
}

// While this coordinator was away, or could not be reached, most of the last group may have gone on by themselves, so
// the first member that is back must not be sent another way. They may be in the middle of it: a member that averages
// in a group of its own making shows that, and the others of that group may not have called yet. Members that never
// come back are waited for once.
bool RunCoordinator::Impl::has_quorum(TimePoint now) {
  const auto& all = members_.all();
  const auto at_hand = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& entry) {
    return !entry.second.averages() && !missed_its_call(entry.second, now);
  }));
  if (2 * at_hand > last_group_) {
    short_since_ = kNever;
    return true;
  }
  if (short_since_ == kNever) short_since_ = now;
  return now >= short_since_ + (somebody_averages(now) ? options_.report_patience : options_.quorum_patience);
}

// Returns the time that the state takes by the member's own line; zero: not known.
Duration RunCoordinator::Impl::download_time(const Member& member) const {
  if (member.speeds.download_bytes_per_s <= 0) return {};
  const double seconds =
      static_cast<double>(wire::state_size(manifest_) * sizeof(float)) / member.speeds.download_bytes_per_s;
  return from_seconds(std::min(seconds, 2 * to_seconds(options_.join_grace_longest)));
}

// Returns how long this round waits for a member that is about to get the state and could be planned then; zero: not at
// all.
Duration RunCoordinator::Impl::join_grace_of(const Member& member) const {
  const bool in_turn = round_began_ >= std::max(member.grace.again, member.left_out_until);
  if (!member.catches_up() || !member.standing.waited_for || !in_turn) return {};
  const Duration download = download_time(member);
  const Duration usual = usual_join_grace(rhythm_, options_);
  const Duration wanted = join_grace(rhythm_, member.grace.rounds_held, download, options_);
  const bool may_be_long = wanted <= options_.join_grace_longest && round_began_ >= long_join_grace_again_;
  if (wanted <= usual || may_be_long) return wanted;
  // Less would not help, except where its line alone would do.
  return download > Duration{} && download <= usual ? usual : Duration{};
}

// True if the swarm would be at another state before this one has arrived: the member would take the donors' lines for
// nothing, again and again. A member that no round waits for may try all the same: its line may be faster than it has
// shown.
bool RunCoordinator::Impl::loads_in_vain(const Member& member) const {
  if (state_ != wire::RunState::running || !member.catches_up() || !member.standing.waited_for) return false;
  if (join_grace_of(member) > Duration{}) return false;
  const Duration in_vain =
      member.grace.rounds_held > 0 ? join_grace({}, member.grace.rounds_held - 1, {}, options_) : Duration{};
  return rhythm_.round > Duration{} && std::max(download_time(member), in_vain) > rhythm_.round;
}

// No slow member, or one that never gets ready, holds up the swarm for long; and no member is given up.
void RunCoordinator::Impl::note_join_grace(TimePoint now, Member& member, Duration held) {
  if (++member.grace.rounds_held < options_.join_graces_in_a_row) return;
  member.grace.again = now + from_seconds(to_seconds(held) / options_.join_grace_share);
}

// A leaky bucket: the time that is spent is earned back by join_grace_share of the time that passes.
void RunCoordinator::Impl::note_long_join_grace(TimePoint now, Duration held) {
  const auto earned_in = [this](Duration spent) { return from_seconds(to_seconds(spent) / options_.join_grace_share); };
  long_join_grace_again_ =
      std::max(long_join_grace_again_, now - earned_in(options_.join_grace_saved_max)) + earned_in(held);
}

// True for a deferred member of the round before. The others are its only source: they forget the round when the next
// begins.
bool RunCoordinator::Impl::takes_result(const Member& member, TimePoint now) const {
  return member.deferred() && now < member.seat.result_due && member.averages() &&
         member.reported.state_round + 1 == round_;
}

// Returns the members of a plan made now; empty while it is better to wait for members that are about to call.
std::vector<Member*> RunCoordinator::Impl::plannable(TimePoint now) {
  std::vector<Member*> members;
  std::size_t averaging = 0;
  for (auto& [peer, member] : members_.all()) {
    if (members_.is_due(member, now)) return {};
    if (missed_its_call(member, now)) continue;  // whatever its phase: nobody waits for the dead
    if (takes_result(member, now)) return {};
    if (now < round_began_ + join_grace_of(member)) return {};
    if (member.ready() && evaluation_.awaits(peer, round_)) {
      if (now < round_began_ + usual_join_grace(rhythm_, options_)) return {};
      continue;
    }
    if (!member.ready() || !member.counted || !member.has_computed()) continue;
    if (member.reported.phase == wire::MemberPhase::training) {
      members.push_back(&member);
    } else {
      ++averaging;  // in a group of another making, or of a plan given up: it ends soon
    }
  }
  if (averaging > members.size()) return {};
  return members;
}

// Returns no more members than a group may have; none when nobody could call anybody, because such a group cannot
// average.
std::vector<Member*> RunCoordinator::Impl::drawn_group(std::vector<Member*> members) const {
  const auto direct = [](const Member* member) { return wire::direct(member->endpoint()); };
  const auto callable = [](const Member* member) { return wire::dialable(member->endpoint()); };
  const bool has_direct = std::any_of(members.begin(), members.end(), direct);
  if (members.size() > 1 && std::none_of(members.begin(), members.end(), callable)) return {};
  const std::size_t most = has_direct ? group_members_max() : options_.relayed_members_max;
  if (members.size() <= most) return members;
  const auto drawn = [this](const Member* a, const Member* b) {
    return draw(a->who.peer, round_) < draw(b->who.peer, round_);
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
std::vector<Member*> RunCoordinator::Impl::latecomers(TimePoint now, const std::vector<Member*>& members) {
  const bool has_direct = std::any_of(members.begin(), members.end(),
                                      [](const Member* member) { return wire::direct(member->endpoint()); });
  const std::size_t most = has_direct ? group_members_max() : options_.relayed_members_max;
  std::vector<Member*> late;
  if (manifest_.low_rank > 0) return late;  // two averagings a round, and both would have to be caught
  for (auto& [peer, member] : members_.all()) {
    if (members.size() + late.size() >= most) break;
    if (member.sits_out(now) || !(member.works() || member.catches_up() || member.evaluates())) continue;
    if (std::find(members.begin(), members.end(), &member) == members.end()) late.push_back(&member);
  }
  return late;
}

// True if all of them have links with each other, so that an arrival is not a new link's.
bool RunCoordinator::Impl::have_met(const std::vector<Member*>& members) const {
  return std::all_of(members.begin(), members.end(),
                     [&](const Member* member) { return member->met_in + 1 == round_; });
}

std::size_t RunCoordinator::Impl::group_members_max() const {
  const auto wanted = static_cast<std::size_t>(manifest_.averaging.group_size);
  return wanted > 0 ? std::min(wanted, options_.group_members_max) : options_.group_members_max;
}

// Returns the columns of the next round's grid; below 2: it is averaged in one group.
std::size_t RunCoordinator::Impl::columns_for(std::span<const wire::MemberInfo> members) const {
  const bool sparse_results = !wire::carries_results(wire::codec_from_name(manifest_.codec).value());
  if (manifest_.averaging.formation == "one-group" || manifest_.low_rank > 0 || sparse_results) return 1;
  const std::size_t group_max = group_members_max();
  if (manifest_.averaging.formation == "grid") return swarm::columns_of(members, group_max);
  const bool has_direct = std::any_of(members.begin(), members.end(),
                                      [](const wire::MemberInfo& member) { return wire::direct(member.endpoint); });
  if (!has_direct) return 1;  // every relay would carry several groups
  swarm::SwarmForecast forecast;
  forecast.peers = members.size();
  forecast.group_max = group_max;
  const double bytes_per_float = swarm::narrower_codecs(manifest_.codec, false).front().bytes_per_float;
  forecast.vector_bytes = static_cast<double>(vector_floats_) * bytes_per_float;
  forecast.bytes_per_s = usual_line(members);
  forecast.round_s = kStageSeconds;
  forecast.link_s = kPartnerSeconds;
  forecast.failures_per_s = members_.vanishings_per_s();
  forecast.recovery_s = swarm::kRecoverySeconds;
  const double rate = members_.forecast().samples_per_s();
  if (rate > 0) forecast.batch_s = static_cast<double>(manifest_.target_batch_size) / rate;
  return swarm::choose_columns(forecast, swarm::columns_of(members, 1));
}

void RunCoordinator::Impl::freeze(TimePoint now, const std::vector<Member*>& present, Ops& ops) {
  std::vector<wire::MemberInfo> infos;
  for (const Member* member : present) infos.push_back(member->info());
  const std::size_t columns = columns_for(infos);
  const std::vector<Member*> members = columns < 2 ? drawn_group(present) : present;
  if (members.empty()) return;
  const Duration lead_time = lead();
  TimePoint start = std::max(now, full_at(now));
  infos.clear();
  for (Member* member : members) {
    if (member->seen != now) {  // else it is calling at this moment and hears at once
      start = std::max(start, member->next_call() + from_seconds(kStartAfterLastCall * to_seconds(lead_time)));
    }
    infos.push_back(member->info());
  }
  Plan plan;
  plan.serial = ++plans_made_;
  plan.start = start;
  swarm::PlanOptions options;
  options.run_id = manifest_.run_id;
  options.round = round_;
  options.state_digest = canonical_;
  options.vector_floats = vector_floats_;
  options.codec = manifest_.codec;
  options.contribution_codec = manifest_.contribution_codec;
  // Factors make up for omissions by themselves, and are small enough for every line: nobody is demoted.
  const bool low_rank = manifest_.low_rank > 0;
  options.error_feedback = wire::round_traffic(manifest_).narrows_contributions;
  options.target_batch_size = low_rank ? 0 : manifest_.target_batch_size;
  options.may_leave_out = true;
  options.start_in_ms = to_ms(start - now);
  options.heartbeat_jitter_ms = to_ms(lead_time);
  if (have_met(members)) options.arrivals_within_ms = to_ms(rhythm_.arrivals_within());
  options.nonce = mix64(options_.nonce + mix64(plan.serial));
  std::vector<double> ready_s;
  if (columns < 2) {
    for (const Member* member : latecomers(now, members)) options.latecomers.push_back(member->endpoint());
    swarm::RoundPlan planned = swarm::plan_round(infos, options);
    plan.id = planned.group.id;
    plan.groups.push_back(std::move(planned.group));
    ready_s = std::move(planned.ready_s);
    for (const PeerId& peer : planned.left_out) members_.find(peer)->left_out_until = now + options_.left_out_for;
  } else {
    plan.groups = swarm::plan_grid(infos, options, columns).columns;
    plan.id = plan.groups.front().grid->id;
  }
  for (auto& [peer, member] : members_.all()) {
    if (const Duration held = join_grace_of(member); held > Duration{}) note_join_grace(now, member, held);
  }
  if (const Duration took = now - round_began_; held_ && took > usual_join_grace(rhythm_, options_)) {
    note_long_join_grace(now, took);
  }
  plan.begin_by = start + from_ms(plan.groups.front().begin_within_ms);
  number_voters(plan.groups);
  seat(plan, ready_s, ops);
  planned_rate_ = members_.forecast().samples_per_s();
  plan_reason_ = plan.groups.front().reason;
  plan_ = std::move(plan);
}

// Numbers the voters: members of one account have one vote together. Only such members get a number.
void RunCoordinator::Impl::number_voters(std::vector<wire::GroupInfo>& groups) {
  std::map<AccountId, int> members;
  const auto each_member = [&groups](const auto& visit) {
    for (wire::GroupInfo& group : groups) {
      for (wire::GroupMember& member : group.members) visit(member);
      if (!group.grid) continue;
      for (wire::GridPlan::Head& head : group.grid->heads) visit(head.member);
    }
  };
  for (const wire::GroupInfo& group : groups) {
    for (const wire::GroupMember& member : group.members) ++members[members_.find(member.endpoint.peer)->who.account];
  }
  std::map<AccountId, std::uint32_t> numbers;
  each_member([&](wire::GroupMember& member) {
    const AccountId account = members_.find(member.endpoint.peer)->who.account;
    if (members[account] < 2) return;
    member.voter = numbers.try_emplace(account, static_cast<std::uint32_t>(numbers.size() + 1)).first->second;
  });
}

// Remembers the members' places in the plan, and the accounts that decide the round by it.
void RunCoordinator::Impl::seat(Plan& plan, const std::vector<double>& ready_s, Ops& ops) {
  SeatedGroup seated{SeatedGroup::Origin::dealt, plan.id, round_, {}, 0};
  Forecast forecast;
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    std::vector<Seat>& seats = seated.columns.emplace_back();
    for (std::size_t rank = 0; rank < plan.groups[group].members.size(); ++rank) {
      const wire::GroupMember& planned = plan.groups[group].members[rank];
      Member& member = *members_.find(planned.endpoint.peer);
      seats.push_back({planned.endpoint.peer, member.who.account, planned.role});
      member.seat = {plan.serial, group, planned.role};
      if (!member.late()) forecast.add(member.counted.value());
      if (!member.deferred()) continue;
      const Duration patience = std::min(from_seconds(kDeferredPatience * ready_s[rank]), options_.averaging_max);
      member.seat.result_due = plan.begin_by + patience;
    }
  }
  const double swarm_samples_per_s = members_.forecast().samples_per_s();
  plan.samples_per_s = forecast.samples_per_s();
  if (held_) {
    plan.samples = forecast.expected(plan.start - rhythm_.lag);
  } else if (swarm_samples_per_s > 0) {
    plan.samples = static_cast<double>(manifest_.target_batch_size) * plan.samples_per_s / swarm_samples_per_s;
  }
  // Nobody brings much more than all together were expected to, had they worked until the last moment to begin.
  const double waited_s = to_seconds(plan.begin_by - plan.start);
  const auto expected = static_cast<SampleCount>(
      std::min(members_.forecast().expected(plan.start) + members_.forecast().samples_per_s() * waited_s,
               static_cast<double>(kMemberSamplesMax)));
  seated.samples_max =
      std::min(kCreditedBatchesMax * std::max(manifest_.target_batch_size, expected) + manifest_.micro_batch_size,
               kMemberSamplesMax);
  ops.emplace_back(GroupSeated{seated});
  electorates_.seat(std::move(seated));
}

// A plan has failed when its accounts can no longer come to a decision, when nobody came, or when it has no end.
void RunCoordinator::Impl::drop_failed_plan(TimePoint now) {
  if (!plan_ || now < plan_->start) return;
  const bool reported = reports_.first_of(round_, plan_->id) != kNever;
  const bool averaging = std::any_of(members_.all().begin(), members_.all().end(), [&](const auto& entry) {
    const Member& member = entry.second;
    return member.seat.plan == plan_->serial && member.averages() && !missed_its_call(member, now);
  });
  const bool nobody_came = now > plan_->begin_by + kBeginSlack && !averaging && !reported;
  const bool endless = now > plan_->start + options_.averaging_max;
  const SeatedGroup& group = *electorates_.find(plan_->id);
  const std::vector<HeldResult> results = results_of(reports_.classes(round_), group.id);
  const bool hopeless = count_votes(group.seats(), ballots(now, group, results)).hopeless;
  if (nobody_came || endless || hopeless) give_up(GroupId(plan_->id));
}

}  // namespace starling::core
