// Who measures the held-out loss now and then, and which figure is believed.
//
// Two members measure the same state, the one at the start of a round that they are told a little ahead: they do it
// when they come there, before they train in it. Figures that agree are believed. When they do not, a third member is
// asked: for the same state or, where the swarm has left that, the three measure a later one. Whoever is outvoted then
// has lied, or its machine errs. A figure that nobody else could measure is passed on as what it is: one member's word.
// The swarm goes on meanwhile, and nothing is kept of an open turn: whoever is asked again tells its figure again.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "coordinator/core/types.h"

namespace starling::core {

class EvaluationTurn {
 public:
  // `evaluated_round`: the last that figures are stored of.
  explicit EvaluationTurn(std::optional<RoundIndex> evaluated_round) : last_round_(evaluated_round) {}

  struct Situation {
    RoundIndex round = 0;   // of the swarm; the asked member holds the state at its start
    Duration round_time{};  // of usual rounds; zero while unknown
    bool planned = false;   // the members are about to leave that state
    bool running = false;
  };
  // The round whose state `peer` should measure. A run that is not running gets its last figure at once; a running one
  // every evaluation_interval, or less often where measuring takes long.
  std::optional<RoundIndex> ask(TimePoint now, const PeerId& peer, const Situation& situation,
                                const CoordinatorOptions& options);

  struct Verdict {
    RoundIndex round = 0;
    std::vector<EvaluationFigure> believed;  // they agree; a single one is unconfirmed
    std::vector<PeerId> outvoted;
  };
  // A figure, or that there is none. What nobody was asked for is ignored.
  void answered(TimePoint now, const PeerId& peer, const wire::EvaluationReport& report);
  // A member calls, at this round: beyond the one it was asked for, it can no longer measure that.
  void on_call(TimePoint now, const PeerId& peer, RoundIndex state_round);
  // Others are asked instead of those that are gone.
  void forget_gone(const std::function<bool(const PeerId&)>& is_here);
  // Once nothing more is to be waited for; the turn is over then. `members`: that could be asked, those that were among
  // them.
  std::optional<Verdict> conclude(TimePoint now, const Situation& situation, std::size_t members,
                                  const CoordinatorOptions& options);

  [[nodiscard]] bool is_open() const { return turn_.has_value(); }
  // The member is to measure the state at the start of `round`, and has not yet.
  [[nodiscard]] bool awaits(const PeerId& peer, RoundIndex round) const;

 private:
  struct Asked {
    TimePoint at{};
    std::optional<EvaluationFigure> figure;
  };
  struct Turn {
    RoundIndex round = 0;
    std::size_t wanted = 2;  // figures
    TimePoint since{};       // the swarm has been there
    std::map<PeerId, Asked> asked;
    std::set<PeerId> unable;
  };
  // The member has been at it since it was asked, or since it came to the round.
  void note_time(TimePoint now, const Asked& asked) { took_ = std::max(took_, now - std::max(asked.at, turn_->since)); }
  void begin(TimePoint now, const Situation& situation, const CoordinatorOptions& options);
  [[nodiscard]] bool has_place(const PeerId& peer) const;
  [[nodiscard]] bool awaits_somebody() const;
  [[nodiscard]] std::vector<EvaluationFigure> figures() const;
  [[nodiscard]] Verdict judge(const std::vector<EvaluationFigure>& told);

  std::optional<Turn> turn_;
  std::set<PeerId> doubted_;                  // two that contradicted each other, and nobody else could tell
  Duration ahead_ = std::chrono::seconds(2);  // members hear so long before of the round whose state they measure
  Duration took_{};                           // of those that were asked in the last turn, the slowest
  std::optional<RoundIndex> last_round_;      // that there is a figure of
  RoundIndex tried_round_ = -1;
  TimePoint tried_at_{};
};

}  // namespace starling::core
