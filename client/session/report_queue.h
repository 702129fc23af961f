// Messages that this member repeats until the coordinator has heard them: its rounds' results, and evaluations. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "client/session/state_chain.h"
#include "client/session/trainer.h"
#include "shared/base/ids.h"
#include "shared/protocol/round_report.h"
#include "shared/protocol/round_trouble.h"

namespace starling::session {

// Reports of rounds that the coordinator has not settled, oldest first.
class ReportQueue {
 public:
  // unacknowledged: kept on disk by an earlier session, oldest first.
  explicit ReportQueue(const std::vector<wire::RoundReport>& unacknowledged)
      : reports_(unacknowledged.begin(), unacknowledged.end()) {}

  void add(wire::RoundReport report);
  // Rounds below this are settled.
  void settle(RoundIndex below);
  // Rounds from this one on do not count. Returns the number of reports that are dropped.
  std::size_t drop(RoundIndex from);

  // Results of rounds below this are in the swarm's present state, which one of them led to; those of others may be in
  // another one.
  [[nodiscard]] RoundIndex sure_below(const StateName& swarm) const;
  // Returns the first round that led to another state here than in the swarm. result_of: the state that a round led to
  // there, where it is known.
  [[nodiscard]] std::optional<RoundIndex> first_apart(
      const std::function<std::optional<Digest>(RoundIndex round)>& result_of) const;

  // Returns the oldest ones for the heartbeat that goes out now, as many as it may carry, at least one if there is one.
  // They are told until they are settled; what a report measured of others, which is long, until it was heard: a
  // coordinator that forgets it checks a round less.
  [[nodiscard]] std::vector<wire::RoundReport> tell();
  [[nodiscard]] bool empty() const { return reports_.empty(); }
  [[nodiscard]] std::size_t size() const { return reports_.size(); }
  // Only if not empty().
  [[nodiscard]] RoundIndex first_round() const { return reports_.front().round; }

  // Troubles are told once, as far as replies come; the oldest make room for new ones.
  void add_trouble(wire::RoundTrouble trouble);
  // Returns those for the heartbeat that goes out now.
  [[nodiscard]] std::vector<wire::RoundTrouble> tell_troubles();
  // The heartbeat was answered.
  void on_heard();

 private:
  std::deque<wire::RoundReport> reports_;
  std::deque<wire::RoundTrouble> troubles_;
  RoundIndex told_below_ = 0;      // the heartbeat under way tells of rounds below this
  std::size_t told_troubles_ = 0;  // and this number of troubles
};

// The evaluations that the coordinator asks of this member. It asks until it has the answer.
class Evaluations {
 public:
  void ask(RoundIndex round);
  // True if the state of this round is to be measured.
  [[nodiscard]] bool wanted(RoundIndex state_round) const { return wanted_ == state_round; }
  // nothing: it could not be measured
  void on_measured(RoundIndex round, const std::optional<Evaluation>& measured);

  // Returns the report for the heartbeat that goes out now, if one waits.
  [[nodiscard]] std::optional<wire::EvaluationReport> tell();
  // That heartbeat was answered.
  void on_heard();

  // The last one that was measured here.
  [[nodiscard]] const std::optional<wire::EvaluationReport>& last_measured() const { return last_measured_; }

 private:
  std::optional<RoundIndex> wanted_;
  std::optional<wire::EvaluationReport> waiting_;
  bool told_ = false;                           // the heartbeat under way carries waiting_
  std::optional<wire::EvaluationReport> last_;  // sent again when it is asked for again
  std::optional<wire::EvaluationReport> last_measured_;
};

}  // namespace starling::session
