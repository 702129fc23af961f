// Decides which results count, and what happens when nobody holds the state any more.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "coordinator/core/run_coordinator_impl.h"

namespace starling::core {
namespace {

constexpr RoundIndex kRoundsLeapMax = 1'000'000;
constexpr Duration kAssumedMin = std::chrono::milliseconds(500);
constexpr Duration kAssumedMax = std::chrono::seconds(5);
constexpr double kBatchMaxS = 30.0 * 24 * 3600;  // keeps time arithmetic in range

std::string does_not_count(const wire::RoundReport& report, std::string_view why) {
  return fmt::format("the report of round {} does not count: {}", report.round, why);
}

// Refusal of a report that no honest member sends.
Error refused(const wire::RoundReport& report, std::string_view why) {
  return {ErrorCode::invalid_argument, does_not_count(report, why)};
}

// Refusal of a report that an honest member may send: rounds were given up, or come in another order.
Error untimely(const wire::RoundReport& report, std::string_view why) {
  return {ErrorCode::failed_precondition, does_not_count(report, why)};
}

}  // namespace

// Returns why the report was refused; empty if it was taken.
std::string RunCoordinator::Impl::take_report(TimePoint now, WallTime wall, const PeerId& reporter,
                                              const wire::RoundReport& report, Ops& ops) {
  if (report.round >= round_ + static_cast<RoundIndex>(kRoundsAheadMax)) return {};
  if (report.round < round_) {
    hear_of_members(reporter, report);
    note_claim(report.round, wall, reporter, claimed_by(reporter, report), ops);
    return {};
  }
  if (reports_.has_spoken(reporter, report.round)) return {};
  if (Status status = check(report, reporter); !status.ok()) {
    // A coordinator that died may have dealt groups that its store has never heard of.
    const bool may_be_honest = recovered_ && now < started_ + options_.absence_patience;
    if (status.error().code == ErrorCode::invalid_argument && !may_be_honest) {
      reputation_.on_false_word(round_, reporter);
    }
    return status.error().message;
  }
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

// The last reports of a group often come when its round is decided: their complaints still count.
void RunCoordinator::Impl::hear_of_members(const PeerId& reporter, const wire::RoundReport& report) {
  if (report.round + kRemembered < round_ || reputation_.has_heard(reporter, report)) return;
  const SeatedGroup* group = electorates_.find(report.group);
  if (group == nullptr || group->round != report.round) return;
  const std::vector<PeerId> peers = group->peers_of(report.grid ? report.grid->column : 0);
  if (!peers.empty()) reputation_.on_report(reporter, report, peers);
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

// A report of the current round must be of a group that may decide it. One of a later round is kept until that round
// comes, and judged then; its sender must have reported the round before, so that only members of a group that may
// decide the current round fill the book.
Status RunCoordinator::Impl::check(const wire::RoundReport& report, const PeerId& reporter) {
  ReportLimits limits{swarm::member_samples_max(manifest_.target_batch_size, manifest_.micro_batch_size),
                      options_.group_members_max};
  const SeatedGroup* group = electorates_.find(report.group);
  if (group != nullptr && group->round != report.round) return refused(report, "its group is of another round");
  const bool is_new = group == nullptr && report.round == round_;
  if (is_new && !is_voucher(reporter)) {
    return refused(report, "its group was not dealt, and does not follow from the last one");
  }
  if (group != nullptr && electorates_.deciding(report.round, report.group) == nullptr) {
    return untimely(report, "the round was planned again, without its group");
  }
  if (report.round > round_ && !reports_.has_spoken(reporter, report.round - 1)) {
    return untimely(report, "its sender has not reported the round before");
  }
  if (group != nullptr && group->origin != SeatedGroup::Origin::vouched) {
    if (group->is_grid()) limits.columns = group->columns.size();
    const std::size_t column = report.grid ? report.grid->column : 0;
    if (column >= group->columns.size()) return refused(report, "it is of a column that was not dealt");
    return check_report(report, reporter, group->peers_of(column), limits);
  }
  const std::vector<PeerId> members = sorted(report.members);
  STARLING_TRY(check_report(report, reporter, members, limits));
  if (reports_.find_equal(report) != nullptr) return {};
  for (const PeerId& member : members) {
    if (!known_hosts_.account_of(member)) return refused(report, "it names a member that is not of this project");
  }
  if (is_new) seat_vouched(report.group);
  return {};
}

// A coordinator that ends with a full disk, or is killed, may have dealt groups that its store has not kept, and an
// older version kept none. Right after the start, any group of this round is acceptable that most accounts of the round
// before vouch for; then the round after it, and so on, until a group that is known decides one.
bool RunCoordinator::Impl::is_voucher(const PeerId& peer) const {
  return std::any_of(vouchers_.begin(), vouchers_.end(), [&](const Seat& seat) { return seat.peer == peer; });
}

void RunCoordinator::Impl::seat_vouched(const GroupId& id) {
  const SampleCount samples_max = swarm::member_samples_max(manifest_.target_batch_size, manifest_.micro_batch_size);
  electorates_.seat({SeatedGroup::Origin::vouched, id, round_, {vouchers_}, samples_max});
}

void RunCoordinator::Impl::decide_rounds(TimePoint now, WallTime wall, Ops& ops) {
  while (state_ != wire::RunState::complete && pending_credit_.size() < kRoundsAheadMax) {
    const std::optional<Verdict> verdict = decided_now(now);
    if (!verdict) return;
    decide(now, wall, *verdict, ops);
    complete_if_done(ops);
  }
}

// Returns the result of the current round that a group's accounts have decided on; none yet, most of the time.
std::optional<Verdict> RunCoordinator::Impl::decided_now(TimePoint now) const {
  if (reports_.classes(round_).empty()) return std::nullopt;
  for (const SeatedGroup* group : electorates_.deciding(round_)) {
    const std::vector<HeldResult> results = results_of(reports_.classes(round_), group->id);
    if (results.empty()) continue;
    const std::vector<Seat> seats = group->seats();
    const Count count = count_votes(seats, ballots(now, *group, results));
    if (!count.decided) continue;
    const HeldResult& result = results[*count.decided];
    const ResultClass& version = version_that_counts(result, seats);
    Verdict verdict{*group, version, version.contributions, {}};
    for (const Seat& seat : seats) {
      if (result.is_held_by(seat.peer)) verdict.holders.insert(seat.peer);
    }
    if (group->is_grid() && !add_column_claims(now, *group, version, verdict)) continue;
    return verdict;
  }
  return std::nullopt;
}

std::function<Ballot(const PeerId&)> RunCoordinator::Impl::ballots(TimePoint now, const SeatedGroup& group,
                                                                   const std::vector<HeldResult>& results) const {
  return [this, now, &group, &results](const PeerId& peer) -> Ballot {
    for (std::size_t choice = 0; choice < results.size(); ++choice) {
      if (results[choice].is_held_by(peer)) return {Ballot::State::cast, choice};
    }
    return {may_still_report(now, group, peer) ? Ballot::State::open : Ballot::State::gone, 0};
  };
}

// True if a member that has not reported this group's result may have it, or come to have it.
bool RunCoordinator::Impl::may_still_report(TimePoint now, const SeatedGroup& group, const PeerId& peer) const {
  if (reports_.has_spoken(peer, round_)) return false;  // for another group
  const auto found = members_.all().find(peer);
  const Member* member = found == members_.all().end() ? nullptr : &found->second;
  const bool here = member != nullptr && !missed_its_call(*member, now);
  const bool averages = member != nullptr && member->averages();
  if (plan_ && plan_->id == group.id) {
    if (member == nullptr) return false;
    const bool may_call = here || now < member->next_call() + options_.quorum_patience;  // a call may be lost
    if (!member->seat.attended) return may_call && member->ready() && now <= plan_->begin_by + kBeginSlack;
    const bool takes_it = member->deferred() && now < member->seat.result_due;
    return averages && member->reported.state_round == round_ && (may_call || takes_it);
  }
  // The group formed without this coordinator: a member's last word may be older than the result.
  const TimePoint first = reports_.first_of(round_, group.id);
  const TimePoint patience_ends =
      std::max(first == kNever ? now : first + options_.absence_patience, started_ + options_.settle);
  if (!here || (first != kNever && member->seen <= first)) return now < patience_ends;
  return averages && member->reported.state_round == round_;
}

// Adds the contributions that the quorum of each column reports. False while a column that brought something may still
// come to a quorum; after report_grace the round is credited without such columns.
bool RunCoordinator::Impl::add_column_claims(TimePoint now, const SeatedGroup& group, const ResultClass& version,
                                             Verdict& verdict) const {
  const bool patient = now < reports_.first_of(round_, group.id) + report_grace(rhythm_, options_);
  for (std::size_t column = 0; column < group.columns.size(); ++column) {
    if (version.accepted[column] == 0) continue;
    const auto ballot_of = [&](const PeerId& peer) -> Ballot {
      for (std::size_t i = 0; i < version.claims.size(); ++i) {
        const ColumnClaim& claim = version.claims[i];
        if (claim.column == column && claim.reporters.contains(peer)) return {Ballot::State::cast, i};
      }
      const bool open = !verdict.holders.contains(peer) && may_still_report(now, group, peer);
      return {open ? Ballot::State::open : Ballot::State::gone, 0};
    };
    const Count count = count_votes(group.columns[column], ballot_of);
    if (!count.decided && !count.hopeless && patient) return false;
    if (!count.decided) continue;
    const std::vector<wire::Contribution>& claimed = version.claims[*count.decided].contributions;
    verdict.contributions.insert(verdict.contributions.end(), claimed.begin(), claimed.end());
  }
  return true;
}

// A group that can no longer come to a decision gives its round up: the state stays, the round is planned again, and
// members that hold the group's result return to the state and offer the same samples once more.
void RunCoordinator::Impl::give_up_hopeless_groups(TimePoint now) {
  std::vector<GroupId> hopeless;
  for (const SeatedGroup* group : electorates_.deciding(round_)) {
    if (reports_.first_of(round_, group->id) == kNever) continue;
    const std::vector<HeldResult> results = results_of(reports_.classes(round_), group->id);
    if (count_votes(group->seats(), ballots(now, *group, results)).hopeless) hopeless.push_back(group->id);
  }
  for (const GroupId& group : hopeless) give_up(group);
}

void RunCoordinator::Impl::give_up(const GroupId& group) {
  electorates_.withdraw(group);
  reports_.forget(round_, [&](const ResultClass& result) { return result.group != group; });
  if (!plan_ || plan_->id != group) return;
  plan_.reset();
  held_ = true;
}

void RunCoordinator::Impl::decide(TimePoint now, WallTime wall, const Verdict& verdict, Ops& ops) {
  const ResultClass& result = verdict.result;
  const bool dealt = verdict.group.origin == SeatedGroup::Origin::dealt;
  RoundDecided decided;
  decided.round = round_;
  decided.group = result.group;
  decided.state_digest = result.state_digest;
  decided.loss = result.losses > 0 ? result.loss_sum / result.losses : 0;
  decided.survivors = static_cast<int>(verdict.holders.size());
  decided.averaging_ms = result.averaging_ms;
  decided.wall = wall;
  std::vector<AccountSamples> credit;
  std::vector<wire::Contribution> credited;
  std::vector<PeerId> averaged;
  std::vector<Seat> contributors;
  for (const wire::Contribution& contribution : verdict.contributions) {
    Member* member = members_.find(contribution.peer);
    if (member != nullptr) member->met_in = round_;
    const bool later = member != nullptr && member->deferred() && !verdict.holders.contains(contribution.peer);
    if (!later) averaged.push_back(contribution.peer);
    const std::optional<AccountId> account = known_hosts_.account_of(contribution.peer);
    if (account) contributors.push_back({contribution.peer, *account, wire::MemberRole::full});
    if (!account || contribution.samples > verdict.group.samples_max) continue;
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
  if (dealt) {
    if (rhythm_known_) rhythm_.on_round(now - round_began_);
    rhythm_.on_averaging(from_ms(result.averaging_ms));
    learn_lag(verdict);
  }
  rhythm_known_ = dealt && state_ == wire::RunState::running;
  last_group_ = averaged.size();
  decided.successor = successor_of(verdict.group, verdict.contributions, result.state_digest);
  seat_successor(verdict, std::move(contributors), decided.successor);
  ops.emplace_back(std::move(decided));
  claims_.on_decided(round_, credited);
  for (const auto& [peer, claimed] : reports_.claims(round_)) note_claim(round_, wall, peer, claimed, ops);
  std::optional<wire::GroupInfo> ended;
  if (plan_ && plan_->id == result.group && plan_->groups.size() == 1) ended = std::move(plan_->groups.front());
  enter_round(now, round_ + 1, Digest(result.state_digest), averaged, ops);
  ended_ = std::move(ended);
}

void RunCoordinator::Impl::seat_successor(const Verdict& verdict, std::vector<Seat> contributors,
                                          const std::optional<SeatedGroup>& successor) {
  const bool known = verdict.group.origin != SeatedGroup::Origin::vouched;
  last_electorate_ = known ? verdict.group.seats() : contributors;
  vouchers_ = known ? std::vector<Seat>() : std::move(contributors);
  if (successor) electorates_.seat(*successor);  // the last look at `verdict`: its group may move
}

// Learns from the samples of the plan's members, together with those that came late. A batch that takes less than the
// lead is full before anybody can hear of the plan: the forecast had no say in it.
void RunCoordinator::Impl::learn_lag(const Verdict& verdict) {
  if (!plan_ || plan_->id != verdict.group.id || plan_->samples_per_s <= 0) return;
  const double batch_s = plan_->samples / plan_->samples_per_s;
  if (batch_s < to_seconds(lead()) || batch_s > kBatchMaxS) return;
  const double missing = plan_->samples - static_cast<double>(samples_of(verdict.contributions));
  rhythm_.on_filled(missing / plan_->samples_per_s, batch_s);
}

void RunCoordinator::Impl::enter_round(TimePoint now, RoundIndex round, const Digest& canonical,
                                       const std::vector<PeerId>& averaged, Ops& ops) {
  round_ = round;
  canonical_ = canonical;
  known_states_.add({round, canonical});
  plan_.reset();
  ended_.reset();
  round_began_ = now;
  held_ = false;
  judge_members(ops);
  members_.judge(now, canonical_, averaged, now + std::clamp(rhythm_.round, kAssumedMin, kAssumedMax));
  without_holder_since_ = kNever;
  reports_.forget_below(round_);
  // Earlier reports about this round count if they are of a group that may decide it.
  reports_.forget(round_, [this](const ResultClass& result) {
    const SeatedGroup* group = electorates_.deciding(round_, result.group);
    if (group == nullptr) return !vouchers_.empty();
    return group->is_grid() == !result.accepted.empty() && result.members.size() == 1 &&
           result.members.front() == group->peers_of(0);
  });
  if (vouchers_.empty()) return;
  for (const ResultClass& result : reports_.classes(round_)) {
    if (electorates_.find(result.group) == nullptr) seat_vouched(result.group);
  }
}

void RunCoordinator::Impl::complete_if_done(Ops& ops) {
  if (manifest_.rounds_max <= 0 || round_ < manifest_.rounds_max || state_ == wire::RunState::complete) return;
  state_ = wire::RunState::complete;
  ops.emplace_back(RunStateChanged{state_});
}

void RunCoordinator::Impl::find_lost_state(TimePoint now, Ops& ops) {
  const auto& members = members_.all();
  const bool held =
      std::any_of(members.begin(), members.end(), [](const auto& entry) { return entry.second.copy != Copy::other; });
  // While the store is stuck, members may hold more reports than they can send. And a round that is being decided may
  // name the state that they hold.
  const bool deciding = !pending_credit_.empty() || reports_.first_at(round_) != kNever;
  if (held || members.empty() || deciding) {
    without_holder_since_ = kNever;
    return;
  }
  if (without_holder_since_ == kNever) without_holder_since_ = now;
  if (now - without_holder_since_ < options_.adopt_grace) return;
  const std::optional<StateAdopted> found = state_to_adopt(now);
  if (!found) return;
  StateAdopted adopted = *found;
  adopted.round = std::max(round_, adopted.reported_round);
  rhythm_known_ = false;
  enter_round(now, adopted.round, adopted.state_digest, {}, ops);
  ops.emplace_back(adopted);
}

// Returns the state that most accounts of the last decided group vouch for; else the most advanced state that is known
// to have been the swarm's: a member's, or the copy that is kept here.
std::optional<StateAdopted> RunCoordinator::Impl::state_to_adopt(TimePoint now) const {
  using Ground = StateAdopted::Ground;
  if (auto vouched = vouched_state()) return vouched;
  StateAdopted best{0, -1, {}, Ground::decided};
  for (const auto& [peer, member] : members_.all()) {
    const auto round = known_states_.round_of(member.reported.state_digest);
    if (round && *round > best.reported_round) best = {0, *round, member.reported.state_digest, Ground::decided};
  }
  if (const auto& kept = checkpoint_.newest(); kept && kept->round > best.reported_round) {
    // Members load it already; or one that holds more may still come back.
    if (kept->state_digest == canonical_ || now - without_holder_since_ < options_.restore_grace) return std::nullopt;
    best = {0, kept->round, kept->state_digest, Ground::copy};
  }
  if (best.reported_round < 0) return std::nullopt;
  return best;
}

std::optional<StateAdopted> RunCoordinator::Impl::vouched_state() const {
  std::vector<std::pair<RoundIndex, Digest>> states;  // the states that members of the last group hold
  const auto ballot_of = [&](const PeerId& peer) -> Ballot {
    const auto member = members_.all().find(peer);
    if (member == members_.all().end() || member->second.reported.state_digest.is_zero()) return {};
    if (member->second.reported.state_round > round_ + kRoundsLeapMax) return {};
    const std::pair state{member->second.reported.state_round, member->second.reported.state_digest};
    const auto known = std::find(states.begin(), states.end(), state);
    const auto choice = static_cast<std::size_t>(known - states.begin());
    if (known == states.end()) states.push_back(state);
    return {Ballot::State::cast, choice};
  };
  const Count count = count_votes(last_electorate_, ballot_of);
  if (!count.decided) return std::nullopt;
  const auto& [round, digest] = states[*count.decided];
  return StateAdopted{0, round, digest, StateAdopted::Ground::vouched};
}

}  // namespace starling::core
