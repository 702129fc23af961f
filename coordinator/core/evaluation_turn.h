// Chooses the members that measure the held-out loss now and then, and the figure that is believed.
//
// A few members measure one state, the state at the start of a round that they hear of a little ahead: they do it when
// they come there, before they train in it. They are drawn by their accounts, one of each; later, whoever calls is
// asked, so that nobody waits for those who were drawn and do not call. A figure is believed when more than a third of
// the accounts agree on it, two at least and kAgreeMax at most: a third that lies in one voice is not enough. If they
// do not agree, nearly twice as many are asked: for the same state or, if the swarm has left that, all of them measure
// a later one. A member that is outvoted then has lied, or its machine errs. When these cannot be had for long, what
// all say that measured is passed on, at worst one member's word. The swarm goes on meanwhile, and an open turn is not
// stored: a member that is asked again sends its figure again.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "coordinator/core/types.h"

namespace starling::core {

constexpr std::size_t kAgreeMin = 2;  // accounts, where there are as many
constexpr std::size_t kAgreeMax = 6;
// Figures that agree are apart by at most this fraction. Processors add in other orders, which is 1e-5 of a loss at
// most; graphics cards may multiply with the 8 bits of bfloat16, which is some tenths of a percent. A lie within a
// percent is less than a curve shows.
constexpr double kTolerance = 0.01;
// Where the model is cut into cells: these step on between two measurements.
constexpr double kToleranceOfCells = 0.02;

// One measurement after the other.
class EvaluationTurn {
 public:
  // `evaluated_round`: the last round that has stored figures.
  explicit EvaluationTurn(std::optional<RoundIndex> evaluated_round, double tolerance = kTolerance)
      : tolerance_(tolerance), last_round_(evaluated_round) {}

  struct Situation {
    RoundIndex round = 0;   // the swarm's; the asked member holds the state at its start
    Duration round_time{};  // duration of a usual round; zero while unknown
    bool planned = false;   // the members are about to leave that state
    bool running = false;
    std::size_t accounts = 0;  // accounts with a member that could be asked, and with one that was; 0: not known yet
  };
  // Returns the round whose state `peer` should measure. One member of an account is asked. A run that is not running
  // gets its last figure at once; a running one once an interval, or less often where measuring takes long.
  std::optional<RoundIndex> ask(TimePoint now, const MemberIdentity& who, const Situation& situation,
                                const CoordinatorOptions& options);

  struct Verdict {
    RoundIndex round = 0;
    std::vector<EvaluationFigure> believed;  // they agree; a single one is unconfirmed
    std::vector<PeerId> outvoted;
  };
  // Takes a figure, or the word that there is none. An answer that nobody asked for is ignored.
  void answered(TimePoint now, const PeerId& peer, const wire::EvaluationReport& report);
  // Notes a member's call at this round: once it is past the round it was asked for, it can no longer measure that.
  void on_call(TimePoint now, const PeerId& peer, RoundIndex state_round);
  // Asks others instead of members that are gone.
  void forget_gone(const std::function<bool(const PeerId&)>& is_here);
  // Returns the verdict once there is nothing more to wait for; the turn is over then.
  std::optional<Verdict> conclude(TimePoint now, const Situation& situation, const CoordinatorOptions& options);

  [[nodiscard]] bool is_open() const { return turn_.has_value(); }
  // True if the member is to measure the state at the start of `round`, and has not yet.
  [[nodiscard]] bool awaits(const PeerId& peer, RoundIndex round) const;

 private:
  struct Asked {
    AccountId account = 0;
    TimePoint at{};
    std::optional<EvaluationFigure> figure;
  };
  struct Turn {
    RoundIndex round = 0;
    TimePoint begun{};
    Duration opens_in{};     // from then on, until anybody that calls is asked
    TimePoint since{};       // since when the swarm has been at the round
    bool contested = false;  // not all agree, now or before, or too few measured before: more are asked
    // the most that there were since it began: those asked among many do not decide among the few that are left when
    // others leave, or lose their voice
    std::size_t accounts = 0;
    std::map<PeerId, Asked> asked;
    std::map<PeerId, AccountId> unable;
  };
  // The member has measured since it was asked, or since it came to the round.
  void note_time(TimePoint now, const Asked& asked) { took_ = std::max(took_, now - std::max(asked.at, turn_->since)); }
  void begin(TimePoint now, const Situation& situation, const CoordinatorOptions& options);
  // Returns how many accounts have to agree.
  [[nodiscard]] std::size_t agreement() const;
  // Returns how many are asked.
  [[nodiscard]] std::size_t wanted() const;
  [[nodiscard]] bool is_drawn(TimePoint now, AccountId account, std::uint64_t nonce) const;
  [[nodiscard]] bool has_place(const MemberIdentity& who) const;
  [[nodiscard]] std::size_t unable_accounts() const;
  [[nodiscard]] bool awaits_somebody() const;
  [[nodiscard]] std::vector<EvaluationFigure> figures() const;
  [[nodiscard]] Verdict judge(const std::vector<EvaluationFigure>& told, bool in_vain);

  double tolerance_;
  std::optional<Turn> turn_;
  std::set<PeerId> doubted_;                  // members that did not agree, with too few others to decide
  Duration ahead_ = std::chrono::seconds(2);  // members hear of the round whose state they measure this long before it
  int short_turns_ = 0;                       // in a row: too few measured
  Duration took_{};                           // the slowest of the members that were asked in the last turn
  std::optional<RoundIndex> last_round_;      // the last round that has a figure
  RoundIndex tried_round_ = -1;
  TimePoint tried_at_{};
};

}  // namespace starling::core
