#include "coordinator/core/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "coordinator/core/audit_standing.h"
#include "shared/protocol/heartbeat.h"
#include "shared/swarm/grid_plan.h"

namespace starling::core {
namespace {

constexpr RoundIndex kRoundsLeapMax = 1'000'000;
// After an absence, the round in work, and the one that members may have begun ahead.
constexpr std::int64_t kRoundsAfterAbsence = 2;
constexpr int kLiesOnProbation = 2;  // a false report of an account on probation counts twice

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

// True if the seals are of the owner's part in this group or, in a grid, in one of its groups.
bool owns_part(const SeatedGroup& group, const wire::SealedTwice& lie) {
  const auto sits_in = [&](const std::vector<Seat>& seats) {
    return std::any_of(seats.begin(), seats.end(), [&](const Seat& seat) { return seat.peer == lie.owner; });
  };
  const auto has_rank = [&](const std::vector<Seat>& column) {
    const bool ordered = group.origin != SeatedGroup::Origin::vouched;
    return ordered ? lie.rank < column.size() && column[lie.rank].peer == lie.owner : sits_in(column);
  };
  if (!group.is_grid()) return lie.group == GroupId{} && has_rank(group.columns.front());
  for (std::size_t column = 0; column < group.columns.size(); ++column) {
    const swarm::StageIds ids = swarm::stage_ids(group.id, column);
    if (lie.group == ids.column || lie.group == ids.spread) return has_rank(group.columns[column]);
    if (lie.group == ids.heads) return sits_in(group.seats());  // which of them are heads is not kept
  }
  return false;
}

bool is_proven(const KnownHosts& hosts, const SeatedGroup& group, const wire::SealedTwice& lie) {
  if (!owns_part(group, lie)) return false;
  const wire::OwnerProof proof = wire::seals_of(lie, group.id);
  const auto is_signed = [&](const wire::Seal& seal) {
    return hosts.has_signed(lie.owner, wire::signed_text(seal), seal.signature);
  };
  return wire::check_proof(proof).ok() && is_signed(proof.one) && is_signed(proof.other);
}

// True if a group that averaged at this state may decide a round that begins with `canonical`.
bool begins_with(const Digest& base, const Digest& canonical) { return base.is_zero() || base == canonical; }

// A column without any account that has a voice confirms its own claims: nobody else was there.
std::vector<Seat> with_voices(std::vector<Seat> column) {
  SeatedGroup alone;
  alone.columns.push_back(std::move(column));
  let_somebody_decide(alone);
  return std::move(alone.columns.front());
}

SampleCount count_of(const std::vector<CountedSamples>& counted) {
  return std::accumulate(counted.begin(), counted.end(), SampleCount{0},
                         [](SampleCount sum, const CountedSamples& range) { return sum + range.count; });
}

}  // namespace

// A decision of a group's accounts. The references are good until reports or groups change.
struct Judge::Verdict {
  const SeatedGroup& group;
  const ResultClass& result;
  // those that count; in a grid, those of columns whose quorum has reported
  std::vector<wire::Contribution> contributions;
  std::set<PeerId> holders;
};

Judge::Judge(const RunSettings& settings, const RecoveredRun& recovered)
    : settings_(settings), chain_(settings.manifest.run_id, settings.options.signer, recovered.chain) {
  if (recovered.round == 0) dealt_in_row_ = kRoundsAfterAbsence;  // it has never been away
  credit_.replace(recovered.credited);
  const Digest& first = settings.manifest.initial_state_digest;
  known_states_.add({0, first});
  for (const KnownState& state : recovered.states) known_states_.add(state);
  known_states_.add(recovered.current());
  for (const SeatedGroup& group : recovered.groups) electorates_.seat(group);
  const SeatedGroup* last = electorates_.find(recovered.last_group);
  last_electorate_ = last != nullptr ? last->seats() : recovered.last_credited;  // an older version kept no groups
  vouchers_ = last_electorate_;
}

std::string Judge::on_report(const Situation& at, const PeerId& reporter, const wire::RoundReport& report, Ops& ops) {
  const RoundIndex round = at.run.round;
  if (report.round >= round + static_cast<RoundIndex>(kRoundsAheadMax)) return {};
  if (report.round < round) {
    hear_of_members(round, reporter, report);
    note_contradiction(reporter, report, ops);
    note_claim(at, report.round, reporter, claimed_by(reporter, report), ops);
    return {};
  }
  if (reports_.has_spoken(reporter, report.round)) return {};
  if (Status status = check(at.run, report, reporter); !status.ok()) {
    // A coordinator that died may have dealt groups that its store has never heard of.
    const bool may_be_honest = at.run.restarted_within(settings_.options.patience.absence, at.now);
    if (status.error().code == ErrorCode::invalid_argument && !may_be_honest) note_lie(round, reporter, ops);
    return status.error().message;
  }
  const Status kept = reports_.add(at.now, reporter, report);
  if (kept.ok()) hear_of_members(round, reporter, report);
  return kept.ok() ? std::string() : kept.error().message;
}

// The computer is relied on less, and its account has to earn its say once more. Nobody has any experience of one that
// is on probation: it sits out the first time.
void Judge::note_lie(RoundIndex round, const PeerId& reporter, Ops& ops) {
  const auto account = settings_.known_hosts.account_of(reporter);
  const bool has_voice = !account || settings_.known_hosts.standing_of(*account).voice;
  if (reputation_.on_false_word(round, reporter, has_voice ? 1 : kLiesOnProbation)) restart_probation(reporter, ops);
}

void Judge::restart_probation(const PeerId& peer, Ops& ops) const {
  const auto account = settings_.known_hosts.account_of(peer);
  if (account) ops.emplace_back(ProbationRestarted{*account});
}

std::string Judge::on_trouble(const Situation& at, MemberTable& members, const PeerId& reporter,
                              const wire::RoundTrouble& trouble, Ops& ops) {
  const RoundIndex round = at.run.round;
  const SeatedGroup* group = electorates_.find(trouble.group);
  if (group == nullptr || group->round != trouble.round || trouble.round + kRemembered < round) return {};
  const auto column = std::find_if(group->columns.begin(), group->columns.end(), [&](const std::vector<Seat>& seats) {
    return std::any_of(seats.begin(), seats.end(), [&](const Seat& seat) { return seat.peer == reporter; });
  });
  if (column == group->columns.end()) return {};
  reputation_.on_trouble(reporter, trouble, *column);
  bool proven = false;
  for (const wire::SealedTwice& lie : trouble.proofs) {
    if (!is_proven(settings_.known_hosts, *group, lie)) {
      note_lie(round, reporter, ops);
      return fmt::format("the proof about round {} proves nothing", trouble.round);
    }
    if (!reputation_.on_proven_lie(trouble.round, lie.owner)) continue;
    restart_probation(lie.owner, ops);
    proven = true;
  }
  if (proven) judge_members(round, members, ops);
  return {};
}

// Members that finish a round in one group hold one state. Another one is a lie, or a machine that errs.
void Judge::note_contradiction(const PeerId& reporter, const wire::RoundReport& report, Ops& ops) {
  const auto decided = decided_.find(report.round);
  if (decided == decided_.end() || decided->second.group != report.group) return;
  if (report.state_digest != decided->second.state_digest) note_lie(report.round, reporter, ops);
}

void Judge::note_claim(const Situation& at, RoundIndex round, const PeerId& peer, SampleCount claimed, Ops& ops) {
  const SampleCount unconfirmed = claims_.unconfirmed(round, peer, claimed);
  const auto account = settings_.known_hosts.account_of(peer);
  if (unconfirmed > 0 && account) ops.emplace_back(ClaimUnconfirmed{round, peer, *account, unconfirmed, at.wall});
}

// The last reports of a group often come when its round is decided: their complaints still count.
void Judge::hear_of_members(RoundIndex round, const PeerId& reporter, const wire::RoundReport& report) {
  if (report.round + kRemembered < round || reputation_.has_heard(reporter, report)) return;
  const SeatedGroup* group = electorates_.find(report.group);
  if (group == nullptr || group->round != report.round) return;
  const auto column = static_cast<std::size_t>(report.grid ? report.grid->column : 0);
  if (column >= group->columns.size()) return;
  reputation_.on_report(reporter, report, group->columns[column]);
  uploads_.on_report(reporter, report, group->columns[column]);
}

// A result that does not count is void: at once if its round is the current one, and after a while if the rounds before
// it, which others may still report, do not come.
void Judge::note_results(const Situation& at, Member& member, const wire::Heartbeat& heartbeat) const {
  const RoundIndex round = at.run.round;
  const auto tells = [&heartbeat](const auto& is_it) {
    return std::any_of(heartbeat.reports.begin(), heartbeat.reports.end(), is_it);
  };
  const bool is_open = reports_.has_spoken(member.who.peer, round);
  const bool is_early = heartbeat.state_round > round &&
                        tells([round](const wire::RoundReport& report) { return report.round >= round; });
  Results results{.more = heartbeat.reports.size() == wire::kReportsPerHeartbeatMax};
  if (is_open) {
    results.state = Results::State::open;
  } else if (is_early) {
    results.early_since = std::min(member.results.early_since, at.now);
    const bool refused = tells([round](const wire::RoundReport& report) { return report.round == round; });
    // A run that was rolled back has no electorate until it decides a round: nothing from before counts in it.
    const bool vouched = round == 0 || !last_electorate_.empty();
    const bool counts = !refused && vouched && at.now - results.early_since <= settings_.options.patience.absence;
    results.state = counts ? Results::State::early : Results::State::voided;
  }
  member.results = results;
}

void Judge::judge_members(RoundIndex round, MemberTable& members, Ops& ops) {
  std::vector<Reputation::Present> present;
  for (const auto& [peer, member] : members.all())
    present.push_back({peer, wire::dialable(member.endpoint()), member.voice});
  reputation_.judge(round, present);
  uploads_.begin_round(round);
  for (auto& [peer, member] : members.all()) {
    const bool sat_out = member.standing.sits_out;
    member.standing = reputation_.of(peer);
    member.speeds.seen_upload = uploads_.of(peer);
    if (sat_out != member.standing.sits_out) ops.emplace_back(SeatChanged{peer, !sat_out, explain(member.standing)});
  }
}

// A report of the current round must be of a group that may decide it. One of a later round is kept until that round
// comes, and judged then; its sender must have reported the round before, so that only members of a group that may
// decide the current round fill the book.
Status Judge::check(const RunStatus& run, const wire::RoundReport& report, const PeerId& reporter) {
  const wire::RunManifest& manifest = settings_.manifest;
  ReportLimits limits{swarm::member_samples_max(manifest.target_batch_size, manifest.micro_batch_size),
                      settings_.options.plans.group_members_max};
  const SeatedGroup* group = electorates_.find(report.group);
  if (group != nullptr && group->round != report.round) return refused(report, "its group is of another round");
  const bool is_new = group == nullptr && report.round == run.round;
  if (is_new && !is_voucher(reporter)) {
    return refused(report, "its group was not dealt, and does not follow from the last one");
  }
  if (group != nullptr && electorates_.deciding(report.round, report.group) == nullptr) {
    return untimely(report, "the round was planned again, without its group");
  }
  if (report.round == run.round && !begins_with(report.base_digest, run.canonical)) {
    return untimely(report, "its group averaged at another state than the swarm's");
  }
  if (report.round > run.round && !reports_.has_spoken(reporter, report.round - 1)) {
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
    if (!settings_.known_hosts.account_of(member)) {
      return refused(report, "it names a member that is not of this project");
    }
  }
  if (is_new) seat_vouched(report.group, run.round);
  return {};
}

// A coordinator that ends with a full disk, or is killed, may have dealt groups that its store has not kept, and an
// older version kept none. Right after the start, any group of this round is acceptable that most accounts of the round
// before vouch for; then the round after it, and so on, until a group that is known decides one.
bool Judge::is_voucher(const PeerId& peer) const {
  return std::any_of(vouchers_.begin(), vouchers_.end(), [&](const Seat& seat) { return seat.peer == peer; });
}

void Judge::seat_vouched(const GroupId& id, RoundIndex round) {
  const wire::RunManifest& manifest = settings_.manifest;
  const SampleCount samples_max = swarm::member_samples_max(manifest.target_batch_size, manifest.micro_batch_size);
  electorates_.seat({SeatedGroup::Origin::vouched, id, round, {vouchers_}, samples_max});
}

// Returns the result of the current round that a group's accounts have decided on; none yet, most of the time.
std::optional<Judge::Verdict> Judge::decided_now(const Situation& at) const {
  const RoundIndex round = at.run.round;
  if (reports_.classes(round).empty()) return std::nullopt;
  for (const SeatedGroup* group : electorates_.deciding(round)) {
    const std::vector<HeldResult> results = results_of(reports_.classes(round), group->id);
    if (results.empty()) continue;
    const std::vector<Seat> seats = group->seats();
    const Count count = count_votes(seats, ballots(at, *group, results));
    if (!count.decided) continue;
    const HeldResult& result = results[*count.decided];
    const ResultClass& version = version_that_counts(result, seats);
    Verdict verdict{*group, version, version.contributions, {}};
    for (const Seat& seat : seats) {
      if (result.is_held_by(seat.peer)) verdict.holders.insert(seat.peer);
    }
    if (group->is_grid() && !add_column_claims(at, *group, version, verdict)) continue;
    return verdict;
  }
  return std::nullopt;
}

std::function<Ballot(const PeerId&)> Judge::ballots(const Situation& at, const SeatedGroup& group,
                                                    const std::vector<HeldResult>& results) const {
  return [this, &at, &group, &results](const PeerId& peer) -> Ballot {
    for (std::size_t choice = 0; choice < results.size(); ++choice) {
      if (results[choice].is_held_by(peer)) return {Ballot::State::cast, choice};
    }
    return {may_still_report(at, group, peer) ? Ballot::State::open : Ballot::State::gone, 0};
  };
}

// True if others report a result with the member's samples, and it has not called since the first of them did: it came
// to the meeting, and its call or the answer is lost. It calls again when it no longer waits for that answer.
bool Judge::has_come_unheard(const Situation& at, const GroupId& group, const PeerId& peer) const {
  const TimePoint first = reports_.first_of(at.run.round, group);
  const Member* member = at.members.find(peer);
  if (first == kNever || at.now >= first + settings_.options.patience.quorum) return false;
  if (member != nullptr && member->seen > first) return false;
  const std::vector<ResultClass>& results = reports_.classes(at.run.round);
  return std::any_of(results.begin(), results.end(), [&](const ResultClass& result) {
    return result.group == group && std::any_of(result.contributions.begin(), result.contributions.end(),
                                                [&](const wire::Contribution& line) { return line.peer == peer; });
  });
}

// True if a member that has not reported this group's result may have it, or come to have it.
bool Judge::may_still_report(const Situation& at, const SeatedGroup& group, const PeerId& peer) const {
  const CoordinatorOptions& options = settings_.options;
  const RoundIndex round = at.run.round;
  if (reports_.has_spoken(peer, round)) return false;  // for another group
  const Member* member = at.members.find(peer);
  const bool here = member != nullptr && !missed_its_call(*member, at.now);
  const bool averages = member != nullptr && member->averages();
  if (at.plan != nullptr && at.plan->id == group.id) {
    if (has_come_unheard(at, group.id, peer)) return true;
    if (member == nullptr) return false;
    const bool may_call = here || at.now < member->next_call() + options.patience.quorum;  // a call may be lost
    if (!member->seat.attended) return may_call && member->ready() && at.now <= at.plan->begin_by + kBeginSlack;
    const bool takes_it = member->deferred() && at.now < member->seat.result_due;
    return averages && member->reported.state_round == round && (may_call || takes_it);
  }
  // The group formed without this coordinator: a member's last word may be older than the result.
  const TimePoint first = reports_.first_of(round, group.id);
  const TimePoint patience_ends =
      std::max(first == kNever ? at.now : first + options.patience.absence, at.run.started + options.patience.settle);
  if (!here || (first != kNever && member->seen <= first)) return at.now < patience_ends;
  if (member->reported.reports_left) return at.now < patience_ends;
  return averages && member->reported.state_round == round;
}

// Adds the contributions that the quorum of each column reports. False while a column that brought something may still
// come to a quorum; after report_grace the round is credited without such columns.
bool Judge::add_column_claims(const Situation& at, const SeatedGroup& group, const ResultClass& version,
                              Verdict& verdict) const {
  const Duration grace = report_grace(at.run.rhythm, settings_.options);
  const bool patient = at.now < reports_.first_of(at.run.round, group.id) + grace;
  for (std::size_t column = 0; column < group.columns.size(); ++column) {
    if (version.accepted[column] == 0) continue;
    const auto ballot_of = [&](const PeerId& peer) -> Ballot {
      for (std::size_t i = 0; i < version.claims.size(); ++i) {
        const ColumnClaim& claim = version.claims[i];
        if (claim.column == column && claim.reporters.contains(peer)) return {Ballot::State::cast, i};
      }
      const bool open = !verdict.holders.contains(peer) && may_still_report(at, group, peer);
      return {open ? Ballot::State::open : Ballot::State::gone, 0};
    };
    const Count count = count_votes(with_voices(group.columns[column]), ballot_of);
    if (!count.decided && !count.hopeless && patient) return false;
    if (!count.decided) continue;
    const std::vector<wire::Contribution>& claimed = version.claims[*count.decided].contributions;
    verdict.contributions.insert(verdict.contributions.end(), claimed.begin(), claimed.end());
  }
  return true;
}

bool Judge::is_hopeless(const Situation& at, const GroupId& group) const {
  const SeatedGroup& seated = *electorates_.find(group);
  const std::vector<HeldResult> results = results_of(reports_.classes(at.run.round), group);
  return count_votes(seated.seats(), ballots(at, seated, results)).hopeless;
}

std::vector<GroupId> Judge::sweep(const Situation& at) {
  if (at.now > at.run.started + settings_.options.patience.absence) vouchers_.clear();
  std::vector<GroupId> hopeless;
  for (const SeatedGroup* group : electorates_.deciding(at.run.round)) {
    const bool reported = reports_.first_of(at.run.round, group->id) != kNever;
    if (reported && is_hopeless(at, group->id)) hopeless.push_back(group->id);
  }
  for (const GroupId& group : hopeless) withdraw(group, at.run.round);
  return hopeless;
}

void Judge::withdraw(const GroupId& group, RoundIndex round) {
  electorates_.withdraw(group);
  reports_.forget(round, [&](const ResultClass& result) { return result.group != group; });
}

std::optional<Decision> Judge::decide(const Situation& at, LeaseBook* leases, Ops& ops) {
  const std::optional<Verdict> verdict = decided_now(at);
  if (!verdict) return std::nullopt;
  const ResultClass& result = verdict->result;
  const RoundIndex round = at.run.round;
  Decision decision;
  decision.group = result.group;
  decision.origin = verdict->group.origin;
  decision.state_digest = result.state_digest;
  decision.result_digest = result.result_digest;
  decision.contributions = verdict->contributions;
  decision.samples = samples_of(verdict->contributions);
  decision.averaging_ms = result.averaging_ms;
  for (const wire::Contribution& contribution : verdict->contributions) {
    decision.contributors.push_back(contribution.peer);
    const Member* member = at.members.find(contribution.peer);
    const bool later = member != nullptr && member->deferred() && !verdict->holders.contains(contribution.peer);
    if (!later) decision.averaged.push_back(contribution.peer);
  }
  RoundDecided decided;
  decided.round = round;
  decided.group = result.group;
  decided.state_digest = result.state_digest;
  decided.loss = result.losses > 0 ? result.loss_sum / result.losses : 0;
  decided.survivors = static_cast<int>(verdict->holders.size());
  decided.averaging_ms = result.averaging_ms;
  decided.wall = at.wall;
  decided.final_below = at.final_below;
  const std::vector<wire::Contribution> seen = credit_contributors(at, *verdict, leases, decided, ops);
  for (const CreditedContribution& line : decided.contributions) decision.credited.push_back({line.peer, line.samples});
  decided.confirmed = confirmed_accounts(*verdict, decided.contributions);
  const std::set<PeerId> against = contradicting(round, result);
  decided_[round] = {result.group, result.state_digest};
  std::erase_if(decided_, [round](const auto& entry) { return entry.first + kRemembered < round; });
  const auto link = link_of(verdict->group, result, reports_.classes(round), at.run.canonical);
  decided.chain = chain_.on_decided(at.wall, link ? &*link : nullptr, round, result.state_digest);
  decided.successor = successor_of(verdict->group, verdict->contributions, result.state_digest);
  seat_successor(*verdict, decided.successor);  // the last look at the verdict's group, which may move
  ops.emplace_back(std::move(decided));
  for (const PeerId& peer : against) note_lie(round, peer, ops);
  claims_.on_decided(round, seen);
  for (const auto& [peer, claimed] : reports_.claims(round)) note_claim(at, round, peer, claimed, ops);
  return decision;
}

// Credits the accounts of the contributors. Where samples are leased, others earn nothing, unless the coordinator was
// away when they were drawn: in this round, or at the end of the last two. Returns the contributions that count.
std::vector<wire::Contribution> Judge::credit_contributors(const Situation& at, const Verdict& verdict,
                                                           LeaseBook* leases, RoundDecided& decided, Ops& ops) {
  const RoundIndex round = at.run.round;
  std::vector<AccountSamples> credit;
  std::vector<wire::Contribution> counting;
  const bool is_dealt = verdict.group.origin == SeatedGroup::Origin::dealt;
  const bool others_earn = !is_dealt || dealt_in_row_ < kRoundsAfterAbsence;
  dealt_in_row_ = is_dealt ? dealt_in_row_ + 1 : 0;
  for (const wire::Contribution& contribution : verdict.contributions) {
    const std::optional<AccountId> account = settings_.known_hosts.account_of(contribution.peer);
    if (!account || contribution.samples > verdict.group.samples_max) continue;
    counting.push_back(contribution);
    SampleCount trained = contribution.samples;
    if (leases != nullptr) {
      trained -= leases->passed_over(round, contribution);
      const std::vector<CountedSamples> counted = leases->count(round, contribution);
      if (!others_earn) trained = count_of(counted);
      decided.counted.insert(decided.counted.end(), counted.begin(), counted.end());
    }
    if (trained <= 0) continue;
    const auto& earning = settings_.options.earning;
    const SampleCount earned = earning ? earning(*account, trained) : trained;
    if (earned < trained)
      ops.emplace_back(ClaimUnconfirmed{round, contribution.peer, *account, trained - earned, at.wall});
    if (earned <= 0) continue;
    decided.contributions.push_back({contribution.peer, *account, earned});
    credit.push_back({*account, earned});
  }
  credit_.add(round, std::move(credit));
  return counting;
}

// Returns the members of the decided group that have told of another state.
std::set<PeerId> Judge::contradicting(RoundIndex round, const ResultClass& result) const {
  std::set<PeerId> peers;
  for (const ResultClass& other : reports_.classes(round)) {
    if (other.group != result.group || other.state_digest == result.state_digest) continue;
    peers.insert(other.reporters.begin(), other.reporters.end());
  }
  return peers;
}

// Returns the accounts on probation that have earned credit which the vote of another account confirms. An account that
// spoke against the decided result is none of them.
std::vector<AccountId> Judge::confirmed_accounts(const Verdict& verdict,
                                                 const std::vector<CreditedContribution>& credited) const {
  const std::set<PeerId> against = contradicting(verdict.group.round, verdict.result);
  std::set<AccountId> voters;
  std::set<AccountId> opposed;
  for (const Seat& seat : verdict.group.seats()) {
    if (seat.voice && verdict.holders.contains(seat.peer)) voters.insert(seat.account);
    if (against.contains(seat.peer)) opposed.insert(seat.account);
  }
  std::set<AccountId> confirmed;
  for (const CreditedContribution& line : credited) {
    const bool by_another = voters.size() > (voters.contains(line.account) ? 1 : 0);
    if (by_another && !opposed.contains(line.account) && !settings_.known_hosts.standing_of(line.account).established)
      confirmed.insert(line.account);
  }
  return {confirmed.begin(), confirmed.end()};
}

std::vector<Seat> Judge::seats_of(const std::vector<wire::Contribution>& contributions) const {
  std::vector<Seat> seats;
  for (const wire::Contribution& contribution : contributions) {
    const std::optional<AccountId> account = settings_.known_hosts.account_of(contribution.peer);
    if (!account) continue;
    const bool voice = settings_.known_hosts.standing_of(*account).voice;
    seats.push_back({contribution.peer, *account, wire::MemberRole::full, voice});
  }
  return seats;
}

void Judge::seat_successor(const Verdict& verdict, const std::optional<SeatedGroup>& successor) {
  const bool known = verdict.group.origin != SeatedGroup::Origin::vouched;
  last_electorate_ = known ? verdict.group.seats() : with_voices(seats_of(verdict.contributions));
  vouchers_ = known ? std::vector<Seat>() : last_electorate_;
  if (successor) electorates_.seat(*successor);
}

void Judge::begin_round(const RunStatus& run, MemberTable& members, Ops& ops) {
  known_states_.add({run.round, run.canonical});
  judge_members(run.round, members, ops);
  without_holder_since_ = kNever;
  reports_.forget_below(run.round);
  // Earlier reports about this round count if they are of a group that may decide it.
  reports_.forget(run.round, [&](const ResultClass& result) {
    if (!begins_with(result.base_digest, run.canonical)) return false;
    const SeatedGroup* group = electorates_.deciding(run.round, result.group);
    if (group == nullptr) return !vouchers_.empty();
    return group->is_grid() == !result.accepted.empty() && result.members.size() == 1 &&
           result.members.front() == group->peers_of(0);
  });
  if (vouchers_.empty()) return;
  for (const ResultClass& result : reports_.classes(run.round)) {
    if (electorates_.find(result.group) == nullptr) seat_vouched(result.group, run.round);
  }
}

std::optional<StateAdopted> Judge::find_lost_state(const Situation& at, const std::optional<wire::Checkpoint>& kept) {
  const auto& members = at.members.all();
  const bool held = std::any_of(members.begin(), members.end(),
                                [](const auto& entry) { return entry.second.holding.copy != Copy::other; });
  // While the store is stuck, members may hold more reports than they can send. And a round that is being decided may
  // name the state that they hold.
  const bool deciding = credit_.rounds_pending() > 0 || reports_.first_at(at.run.round) != kNever;
  if (held || members.empty() || deciding) {
    without_holder_since_ = kNever;
    return std::nullopt;
  }
  if (without_holder_since_ == kNever) without_holder_since_ = at.now;
  if (at.now - without_holder_since_ < settings_.options.patience.adopt) return std::nullopt;
  std::optional<StateAdopted> adopted = state_to_adopt(at, kept);
  if (adopted) adopted->round = std::max(at.run.round, adopted->reported_round);
  return adopted;
}

// Returns the most advanced state of those that may be the swarm's: the one that most accounts of the last decided
// group vouch for, one of a member that is known to have been the swarm's, and the copy that is kept here. The last
// group may be one member, which has lost its disk.
std::optional<StateAdopted> Judge::state_to_adopt(const Situation& at,
                                                  const std::optional<wire::Checkpoint>& kept) const {
  using Ground = StateAdopted::Ground;
  StateAdopted best = vouched_state(at).value_or(StateAdopted{0, -1, {}, Ground::decided});
  for (const auto& [peer, member] : at.members.all()) {
    const Digest& held = member.reported.state_digest;
    const auto round = known_states_.round_of(held);
    if (round && *round > best.reported_round) best = {0, *round, held, Ground::decided};
  }
  if (kept && kept->round > best.reported_round) {
    // Members load it already; or one that holds more may still come back.
    const bool patient = at.now - without_holder_since_ < settings_.options.patience.restore;
    if (kept->state_digest == at.run.canonical || patient) return std::nullopt;
    best = {0, kept->round, kept->state_digest, Ground::copy};
  }
  if (best.reported_round < 0) return std::nullopt;
  return best;
}

std::optional<StateAdopted> Judge::vouched_state(const Situation& at) const {
  std::vector<std::pair<RoundIndex, Digest>> states;  // the states that members of the last group hold
  const auto ballot_of = [&](const PeerId& peer) -> Ballot {
    const Member* member = at.members.find(peer);
    if (member == nullptr || member->reported.state_digest.is_zero()) return {};
    if (member->reported.state_round > at.run.round + kRoundsLeapMax) return {};
    const std::pair state{member->reported.state_round, member->reported.state_digest};
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
