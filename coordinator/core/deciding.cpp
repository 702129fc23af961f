// Which results count, and what happens when nobody holds the state any more.
#include <algorithm>

#include "coordinator/core/run_coordinator_impl.h"

namespace starling::core {
namespace {

constexpr RoundIndex kRoundsLeapMax = 1'000'000;
constexpr Duration kAssumedMin = std::chrono::milliseconds(500);
constexpr Duration kAssumedMax = std::chrono::seconds(5);
constexpr double kBatchMaxS = 30.0 * 24 * 3600;  // keeps time arithmetic in range

}  // namespace

// Empty, or why the report was refused.
std::string RunCoordinator::Impl::take_report(TimePoint now, WallTime wall, const PeerId& reporter,
                                              const wire::RoundReport& report, Ops& ops) {
  if (report.round >= round_ + static_cast<RoundIndex>(kRoundsAheadMax)) return {};
  if (report.round < round_) {
    hear_of_members(reporter, report);
    note_claim(report.round, wall, reporter, claimed_by(reporter, report), ops);
    return {};
  }
  if (reports_.has_spoken(reporter, report.round)) return {};
  if (Status status = check(report, reporter); !status.ok()) return status.error().message;
  const Status kept = reports_.add(now, reporter, report);
  if (kept.ok()) hear_of_members(reporter, report);
  return kept.ok() ? std::string() : kept.error().message;
}

void RunCoordinator::Impl::note_claim(RoundIndex round, WallTime wall, const PeerId& peer, SampleCount claimed,
                                      Ops& ops) {
  const SampleCount unconfirmed = claims_.unconfirmed(round, peer, claimed);
  const auto account = known_hosts_.account_of(peer);
  if (unconfirmed > 0 && account) ops.emplace_back(ClaimUnconfirmed{round, peer, *account, unconfirmed, wall});
}

// What the last ones of a group say of the others comes when its round is decided, but it still counts.
void RunCoordinator::Impl::hear_of_members(const PeerId& reporter, const wire::RoundReport& report) {
  if (report.round + kRemembered < round_ || reputation_.has_heard(reporter, report)) return;
  if (const ReportBook::Dealt* dealt = reports_.dealt(report.group)) {
    const std::size_t group = report.grid ? report.grid->column : 0;
    if (dealt->round != report.round || group >= dealt->groups.size()) return;
    reputation_.on_report(reporter, report, dealt->groups[group]);
  } else if (report.round >= round_) {
    reputation_.on_report(reporter, report, sorted(report.members));
  }
}

void RunCoordinator::Impl::judge_members(Ops& ops) {
  std::vector<Reputation::Present> present;
  for (const auto& [peer, member] : members_.all()) present.push_back({peer, wire::dialable(member.endpoint())});
  reputation_.judge(round_, present);
  for (auto& [peer, member] : members_.all()) {
    const bool sat_out = member.standing.sits_out;
    member.standing = reputation_.of(peer);
    if (sat_out != member.standing.sits_out) ops.emplace_back(SeatChanged{peer, !sat_out, explain(member.standing)});
  }
}

Status RunCoordinator::Impl::check(const wire::RoundReport& report, const PeerId& reporter) const {
  ReportLimits limits{swarm::member_samples_max(manifest_.target_batch_size, manifest_.micro_batch_size),
                      options_.group_members_max};
  const auto refused = [](const char* why) { return Error{ErrorCode::invalid_argument, why}; };
  if (const ReportBook::Dealt* dealt = reports_.dealt(report.group)) {
    if (dealt->round != report.round) return refused("a report names the group of another round");
    if (dealt->groups.size() > 1) limits.columns = dealt->groups.size();
    const std::size_t group = report.grid ? report.grid->column : 0;
    if (group >= dealt->groups.size()) return refused("a report names a column that was not dealt");
    return check_report(report, reporter, dealt->groups[group], limits);
  }
  if (report.grid) limits.columns = report.grid->accepted.size();
  const std::vector<PeerId> members = sorted(report.members);
  STARLING_TRY(check_report(report, reporter, members, limits));
  if (!report.grid && reports_.find_equal(report) != nullptr) return {};
  for (const PeerId& member : members) {
    if (!known_hosts_.account_of(member)) return refused("a report names a member that is not of this project");
  }
  return {};
}

void RunCoordinator::Impl::decide_rounds(TimePoint now, WallTime wall, Ops& ops) {
  while (state_ != wire::RunState::complete && pending_credit_.size() < kRoundsAheadMax) {
    const ResultClass* result = winner(now);
    if (result == nullptr) return;
    decide(now, wall, *result, ops);
    complete_if_done(ops);
  }
}

// The result of the current round that counts, once that is clear.
const ResultClass* RunCoordinator::Impl::winner(TimePoint now) const {
  const ResultClass* best = strongest(reports_.classes(round_));
  if (best == nullptr) return nullptr;
  if (has_majority(now, *best)) return best;
  const TimePoint first = reports_.first_at(round_);
  // A part of the group that split off may be done first: what the others are about to say may outweigh it.
  const Duration patience = somebody_averages(now) ? options_.report_patience : report_grace(rhythm_, options_);
  return now >= first + patience ? best : nullptr;
}

// A member that is known to work on a result of the current round, and has not fallen silent.
bool RunCoordinator::Impl::somebody_averages(TimePoint now) const {
  return std::any_of(members_.all().begin(), members_.all().end(), [&](const auto& entry) {
    const Member& member = entry.second;
    return member.phase == wire::MemberPhase::averaging && member.state_round == round_ && !member.deferred() &&
           !missed_its_call(member, now) && !reports_.has_spoken(entry.first, round_);
  });
}

bool RunCoordinator::Impl::has_majority(TimePoint now, const ResultClass& result) const {
  // A group dealt before a restart, or formed while nobody dealt: after the restart the others must be
  // back before most of those present means anything.
  const bool all_agree = result.reporters.size() == result.members.size();
  if (!result.dealt && !all_agree && recovered_ && now < started_ + options_.settle) return false;
  std::size_t alive = 0;
  std::size_t agree = 0;
  for (const auto& [peer, member] : members_.all()) {
    const bool of_group = std::binary_search(result.members.begin(), result.members.end(), peer);
    if (!of_group && (result.dealt || !member.works())) continue;
    // Its word comes much later, or never.
    if (result.dealt && (member.deferred() || member.late) && !result.reporters.contains(peer)) continue;
    ++alive;
    if (result.reporters.contains(peer)) ++agree;
  }
  return 2 * agree > alive && columns_have_told(now, result);
}

// Only its own members tell what a column has brought: until most of those that are there have, their credit would be
// lost.
bool RunCoordinator::Impl::columns_have_told(TimePoint now, const ResultClass& result) const {
  if (result.accepted.empty()) return true;
  std::vector<std::size_t> told(result.accepted.size());
  std::vector<std::size_t> present(result.accepted.size());
  const ReportBook::Dealt* dealt = reports_.dealt(result.group);
  for (const ColumnClaim& claim : result.claims) told[claim.column] += claim.reporters;
  for (std::size_t column = 0; dealt != nullptr && column < dealt->groups.size(); ++column) {
    for (const PeerId& peer : dealt->groups[column]) {
      const auto member = members_.all().find(peer);
      if (member != members_.all().end() && !missed_its_call(member->second, now)) ++present[column];
    }
  }
  for (std::size_t column = 0; column < told.size(); ++column) {
    if (result.accepted[column] > 0 && (dealt != nullptr ? 2 * told[column] < present[column] : told[column] == 0)) {
      return false;
    }
  }
  return true;
}

void RunCoordinator::Impl::decide(TimePoint now, WallTime wall, const ResultClass& result, Ops& ops) {
  RoundDecided decided;
  decided.round = round_;
  decided.group = result.group;
  decided.state_digest = result.state_digest;
  decided.loss = result.losses > 0 ? result.loss_sum / result.losses : 0;
  decided.survivors = static_cast<int>(result.reporters.size());
  decided.averaging_ms = result.averaging_ms;
  decided.wall = wall;
  std::vector<AccountSamples> credit;
  std::vector<wire::Contribution> credited;
  std::vector<PeerId> averaged;
  const ReportBook::Dealt* dealt = reports_.dealt(result.group);
  for (const wire::Contribution& contribution : result.contributions) {
    Member* member = members_.find(contribution.peer);
    if (member != nullptr) member->met_in = round_;
    const bool later = member != nullptr && member->deferred() && !result.reporters.contains(contribution.peer);
    if (!later) averaged.push_back(contribution.peer);
    const std::optional<AccountId> account = known_hosts_.account_of(contribution.peer);
    if (!account || (dealt != nullptr && contribution.samples > dealt->samples_max)) continue;
    credited.push_back(contribution);
    const SampleCount trained = contribution.samples - (leases_ ? leases_->passed_over(round_, contribution) : 0);
    if (trained <= 0) continue;
    decided.contributions.push_back({contribution.peer, *account, trained});
    credit.push_back({*account, trained});
    if (!leases_) continue;
    const std::vector<CountedSamples> counted = leases_->count(round_, contribution);
    decided.counted.insert(decided.counted.end(), counted.begin(), counted.end());
  }
  pending_credit_.emplace_back(round_, std::move(credit));
  if (result.dealt) {
    if (rhythm_known_) rhythm_.on_round(now - round_began_);
    rhythm_.on_averaging(from_ms(result.averaging_ms));
    learn_lag(result);
  }
  rhythm_known_ = result.dealt && state_ == wire::RunState::running;
  last_group_ = averaged.size();
  ops.emplace_back(std::move(decided));
  claims_.on_decided(round_, credited);
  for (const auto& [peer, claimed] : reports_.claims(round_)) note_claim(round_, wall, peer, claimed, ops);
  std::optional<wire::GroupInfo> ended;
  if (plan_ && plan_->id == result.group && plan_->groups.size() == 1) ended = std::move(plan_->groups.front());
  enter_round(now, round_ + 1, Digest(result.state_digest), averaged, ops);
  ended_ = std::move(ended);
}

// From what the plan's members brought, together with those who came late. A batch that takes less than the lead is
// full before anybody can be told: the forecast had no say in it.
void RunCoordinator::Impl::learn_lag(const ResultClass& result) {
  if (!plan_ || plan_->id != result.group || plan_->samples_per_s <= 0) return;
  const double batch_s = plan_->samples / plan_->samples_per_s;
  if (batch_s < to_seconds(lead()) || batch_s > kBatchMaxS) return;
  const double missing = plan_->samples - static_cast<double>(samples_of(result.contributions));
  rhythm_.on_filled(missing / plan_->samples_per_s, batch_s);
}

void RunCoordinator::Impl::enter_round(TimePoint now, RoundIndex round, const Digest& canonical,
                                       const std::vector<PeerId>& averaged, Ops& ops) {
  round_ = round;
  canonical_ = canonical;
  plan_.reset();
  ended_.reset();
  round_began_ = now;
  held_ = false;
  judge_members(ops);
  members_.judge(now, canonical_, averaged);
  assuming_ = true;
  assumed_until_ = now + std::clamp(rhythm_.round, kAssumedMin, kAssumedMax);
  without_holder_since_ = kNever;
  reports_.forget_below(round_);
}

void RunCoordinator::Impl::complete_if_done(Ops& ops) {
  if (manifest_.rounds_max <= 0 || round_ < manifest_.rounds_max || state_ == wire::RunState::complete) return;
  state_ = wire::RunState::complete;
  ops.emplace_back(RunStateChanged{state_});
}

void RunCoordinator::Impl::find_lost_state(TimePoint now, Ops& ops) {
  const auto& members = members_.all();
  const bool held = std::any_of(members.begin(), members.end(),
                                [](const auto& entry) { return entry.second.ready || entry.second.assumed; });
  // While the store is stuck, members may hold more reports than they can tell.
  if (held || members.empty() || !pending_credit_.empty()) {
    without_holder_since_ = kNever;
    return;
  }
  if (without_holder_since_ == kNever) without_holder_since_ = now;
  if (now - without_holder_since_ < options_.adopt_grace) return;
  const std::optional<RoundIndex> reported = reports_.next_reported(round_);
  if (!reported) {
    adopt_most_advanced(now, ops);
  } else if (*reported > round_) {
    round_ = *reported;  // what happened in between is lost; from here on the members' word is known
    plan_.reset();
  }
}

// Of the states that members hold; holders is 0 when none of them holds any.
StateAdopted RunCoordinator::Impl::most_advanced() const {
  StateAdopted adopted;
  std::map<Digest, int> holders;
  for (const auto& [peer, member] : members_.all()) {
    if (member.state_digest.is_zero() || member.state_round > round_ + kRoundsLeapMax) continue;
    const int count = ++holders[member.state_digest];
    const bool further = member.state_round > adopted.reported_round;
    const bool more = member.state_round == adopted.reported_round && count > adopted.holders;
    if (!further && !more) continue;
    adopted.holders = count;
    adopted.reported_round = member.state_round;
    adopted.state_digest = member.state_digest;
  }
  return adopted;
}

void RunCoordinator::Impl::adopt_most_advanced(TimePoint now, Ops& ops) {
  StateAdopted adopted = most_advanced();
  if (const auto& kept = checkpoint_.newest(); kept && kept->round > adopted.reported_round) {
    // Members load it already; or one that holds more may still come back.
    if (kept->state_digest == canonical_ || now - without_holder_since_ < options_.restore_grace) return;
    adopted = {.reported_round = kept->round, .state_digest = kept->state_digest};
  } else if (adopted.holders == 0) {
    return;
  }
  adopted.round = std::max(round_, adopted.reported_round);
  rhythm_known_ = false;
  enter_round(now, adopted.round, adopted.state_digest, {}, ops);
  ops.emplace_back(adopted);
  complete_if_done(ops);
}

}  // namespace starling::core
