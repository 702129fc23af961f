#include "coordinator/core/evaluation_turn.h"

#include <algorithm>
#include <cmath>

#include "shared/base/permutation.h"

namespace starling::core {
namespace {

constexpr std::size_t kLiarsOneIn = 3;  // accounts; fewer of them lie
constexpr double kDrawnAtFirst = 2;     // accounts for each place, on average: not all of them call in time
constexpr int kShortTurnsMax = 6;       // with too few figures, in a row; after that, fewer are enough
constexpr double kOpensIn = 0.5;        // fraction of the time until the swarm is at the state
constexpr Duration kAheadMax = std::chrono::seconds(64);
constexpr double kAheadRoundsMax = 4096;
constexpr double kShare = 0.02;  // largest fraction of the asked members' time
// longest pause, except for the time that members report for measuring
constexpr Duration kPauseMax = std::chrono::minutes(10);

constexpr double kToleranceMin = 0.001;  // bits a byte; for a model that is nearly always right

bool agree(const EvaluationFigure& a, const EvaluationFigure& b, double tolerance) {
  const double apart = std::max(kToleranceMin, tolerance * std::max(a.bits_per_byte, b.bits_per_byte));
  return a.bytes == b.bytes && std::abs(a.bits_per_byte - b.bits_per_byte) <= apart;
}

// Returns the largest set of figures among which one agrees with all.
std::vector<EvaluationFigure> most_agreed(const std::vector<EvaluationFigure>& figures, double tolerance) {
  std::vector<EvaluationFigure> most;
  for (const EvaluationFigure& one : figures) {
    std::vector<EvaluationFigure> same;
    std::copy_if(figures.begin(), figures.end(), std::back_inserter(same),
                 [&](const EvaluationFigure& other) { return agree(one, other, tolerance); });
    if (same.size() > most.size()) most = std::move(same);
  }
  return most;
}

bool contradict(const std::vector<EvaluationFigure>& figures, double tolerance) {
  return figures.size() > 1 && most_agreed(figures, tolerance).size() < figures.size();
}

// Returns the account's lot for the round, from 0 to 1: nobody outside knows the nonce.
double lot_of(AccountId account, RoundIndex round, std::uint64_t nonce) {
  const std::uint64_t own = mix64(static_cast<std::uint64_t>(account) ^ mix64(nonce));
  return static_cast<double>(mix64(own ^ static_cast<std::uint64_t>(round)) >> 11) * 0x1.0p-53;
}

}  // namespace

std::optional<RoundIndex> EvaluationTurn::ask(TimePoint now, const MemberIdentity& who, const Situation& situation,
                                              const CoordinatorOptions& options) {
  const PeerId& peer = who.peer;
  if (!turn_ && situation.accounts > 0) begin(now, situation, options);
  if (!turn_) return std::nullopt;
  turn_->accounts = std::max(turn_->accounts, situation.accounts);
  if (const auto mine = turn_->asked.find(peer); mine != turn_->asked.end()) {
    return mine->second.figure ? std::nullopt : std::optional(turn_->round);  // the reply that asked it may be lost
  }
  const RoundIndex first = situation.round + (situation.planned ? 1 : 0);
  if (turn_->round < first || turn_->unable.contains(peer) || !has_place(who)) return std::nullopt;
  if (!doubted_.contains(peer) && !is_drawn(now, who.account, options.nonce)) return std::nullopt;
  turn_->asked[peer] = {who.account, now, {}};
  return turn_->round;
}

// A running swarm is asked far enough ahead that several members call in between, however short its rounds are.
void EvaluationTurn::begin(TimePoint now, const Situation& situation, const CoordinatorOptions& options) {
  if (last_round_ && situation.round <= *last_round_) return;
  const Duration rest = std::min(kPauseMax, from_seconds(to_seconds(took_) / kShare));
  const Duration pause = std::max(options.evaluation.interval, rest);
  const bool tried = situation.running ? tried_round_ >= 0 : tried_round_ == situation.round;
  if (tried && now - tried_at_ < pause) return;
  RoundIndex ahead = situation.planned ? 1 : 0;
  if (situation.running && situation.round_time > Duration{}) {
    const double rounds = std::ceil(to_seconds(ahead_) / to_seconds(situation.round_time));
    ahead = static_cast<RoundIndex>(std::clamp(rounds, 1.0, kAheadRoundsMax));
  }
  took_ = {};
  const double until_s = std::max(to_seconds(ahead_), static_cast<double>(ahead) * to_seconds(situation.round_time));
  turn_ = Turn{situation.round + ahead,
               now,
               from_seconds(kOpensIn * until_s),
               now,
               !doubted_.empty() || short_turns_ > 0,
               situation.accounts,
               {},
               {}};
}

std::size_t EvaluationTurn::agreement() const {
  const std::size_t able = turn_->accounts - std::min(turn_->accounts, unable_accounts());
  return std::min(std::clamp(turn_->accounts / kLiarsOneIn + 1, kAgreeMin, kAgreeMax), std::max<std::size_t>(1, able));
}

std::size_t EvaluationTurn::wanted() const {
  const std::size_t enough = agreement();
  return turn_->contested ? std::max(kAgreeMin + 1, 2 * enough - 1) : enough;
}

bool EvaluationTurn::is_drawn(TimePoint now, AccountId account, std::uint64_t nonce) const {
  const double waited = to_seconds(now - turn_->begun) / std::max(1e-9, to_seconds(turn_->opens_in));
  const auto places = static_cast<double>(wanted());
  const double open = kDrawnAtFirst * places / static_cast<double>(std::max<std::size_t>(1, turn_->accounts));
  return lot_of(account, turn_->round, nonce) < open + waited;
}

// Members that contradicted each other measure again, together with others.
bool EvaluationTurn::has_place(const MemberIdentity& who) const {
  if (doubted_.contains(who.peer)) return true;
  const bool account_is_asked = std::any_of(turn_->asked.begin(), turn_->asked.end(),
                                            [&](const auto& entry) { return entry.second.account == who.account; });
  if (account_is_asked) return false;
  const auto kept = static_cast<std::size_t>(std::count_if(
      doubted_.begin(), doubted_.end(), [&](const PeerId& doubted) { return !turn_->asked.contains(doubted); }));
  return turn_->asked.size() + kept < wanted();
}

std::size_t EvaluationTurn::unable_accounts() const {
  std::set<AccountId> accounts;
  for (const auto& [peer, account] : turn_->unable) accounts.insert(account);
  return accounts.size();
}

bool EvaluationTurn::awaits(const PeerId& peer, RoundIndex round) const {
  if (!turn_ || turn_->round != round) return false;
  const auto asked = turn_->asked.find(peer);
  return asked != turn_->asked.end() && !asked->second.figure;
}

bool EvaluationTurn::awaits_somebody() const {
  return std::any_of(turn_->asked.begin(), turn_->asked.end(), [](const auto& entry) { return !entry.second.figure; });
}

void EvaluationTurn::answered(TimePoint now, const PeerId& peer, const wire::EvaluationReport& report) {
  if (!awaits(peer, report.round)) return;
  Asked& asked = turn_->asked[peer];
  note_time(now, asked);
  if (report.bytes > 0) {
    asked.figure = EvaluationFigure{peer, report.bits_per_byte, report.bytes, report.accuracy};
  } else {
    turn_->unable[peer] = asked.account;
    turn_->asked.erase(peer);
  }
}

void EvaluationTurn::on_call(TimePoint now, const PeerId& peer, RoundIndex state_round) {
  if (!turn_ || state_round <= turn_->round || !awaits(peer, turn_->round)) return;
  note_time(now, turn_->asked[peer]);
  turn_->asked.erase(peer);
}

void EvaluationTurn::forget_gone(const std::function<bool(const PeerId&)>& is_here) {
  std::erase_if(doubted_, [&](const PeerId& peer) { return !is_here(peer); });
  if (doubted_.size() < kAgreeMin) doubted_.clear();  // nobody is there to contradict
  if (!turn_) return;
  std::erase_if(turn_->asked, [&](const auto& entry) { return !entry.second.figure && !is_here(entry.first); });
}

std::vector<EvaluationFigure> EvaluationTurn::figures() const {
  std::vector<EvaluationFigure> figures;
  for (const auto& [peer, asked] : turn_->asked) {
    if (asked.figure) figures.push_back(*asked.figure);
  }
  return figures;
}

std::optional<EvaluationTurn::Verdict> EvaluationTurn::conclude(TimePoint now, const Situation& situation,
                                                                const CoordinatorOptions& options) {
  if (!turn_) return std::nullopt;
  if (situation.round < turn_->round) {
    turn_->since = now;
    if (!situation.running) turn_.reset();  // it may never come there: the state it stays at is the one to measure
    return std::nullopt;
  }
  const std::vector<EvaluationFigure> told = figures();
  if (contradict(told, tolerance_)) turn_->contested = true;
  turn_->accounts = std::max(turn_->accounts, situation.accounts);
  const std::size_t able = situation.accounts - std::min(situation.accounts, unable_accounts());
  const bool open = situation.round == turn_->round && told.size() < std::min(wanted(), able);
  const bool late = now - turn_->since >= options.evaluation.timeout;
  if ((open || awaits_somebody()) && !late) return std::nullopt;
  for (const auto& [peer, asked] : turn_->asked) {
    if (!asked.figure) note_time(now, asked);
  }
  Verdict verdict = judge(told, late || short_turns_ >= kShortTurnsMax);
  const bool is_short = told.size() < agreement();
  short_turns_ = is_short ? short_turns_ + 1 : 0;
  if (is_short) ahead_ = std::min(2 * ahead_, kAheadMax);
  tried_round_ = verdict.round;
  tried_at_ = now;
  turn_.reset();
  return verdict;
}

EvaluationTurn::Verdict EvaluationTurn::judge(const std::vector<EvaluationFigure>& told, bool in_vain) {
  Verdict verdict{turn_->round, {}, {}};
  std::vector<EvaluationFigure> agreed = most_agreed(told, tolerance_);
  const bool is_alone = told.size() == 1 && !doubted_.empty();  // one of those that did not agree proves nothing
  const bool enough = agreed.size() >= agreement() || (in_vain && agreed.size() == told.size());
  if (enough && !is_alone) verdict.believed = std::move(agreed);
  if (told.size() > 1) {
    doubted_.clear();
    const bool all_asked = told.size() >= wanted();  // others are asked the next time
    if (verdict.believed.empty() && contradict(told, tolerance_) && !all_asked) {
      for (const EvaluationFigure& figure : told) doubted_.insert(figure.peer);
    }
  }
  if (verdict.believed.empty()) return verdict;
  last_round_ = std::max(last_round_.value_or(0), verdict.round);
  for (const EvaluationFigure& figure : told) {
    const bool believed = std::any_of(verdict.believed.begin(), verdict.believed.end(),
                                      [&](const EvaluationFigure& one) { return one.peer == figure.peer; });
    if (!believed) verdict.outvoted.push_back(figure.peer);
  }
  return verdict;
}

}  // namespace starling::core
