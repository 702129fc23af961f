// The invariants of every simulated swarm with cells at every step, but those of a cell's own rounds. The first one
// that breaks is kept, in words.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/routing/window.h"
#include "client/serving/desk.h"
#include "shared/base/hash.h"
#include "shared/protocol/cell_dealing.h"
#include "tests/sim/cell_model.h"
#include "tests/sim/cell_options.h"
#include "tests/sim/window_check.h"

namespace starling::sim {

class CellChecks {
 public:
  // `run` outlives this object.
  CellChecks(const CellSwarmOptions& options, const wire::RunManifest& run) : options_(options), run_(run) {}

  void fail(std::string what);
  [[nodiscard]] const std::string& broken() const { return broken_; }

  // These units go out to a holder on the way back; maybe not for the first time.
  void on_sent_back(wire::CellIndex cell, const ExpertUnits& units);
  // A holder adds these units to the cell's gradient. Each has been sent, and has added to no gradient before,
  // wherever.
  void on_gradient(int holder, wire::CellIndex cell, const ExpertUnits& units);
  // A holder has computed a call with this state.
  void on_computed(const Hash128& call, StateThen state) { states_[call] = std::move(state); }
  // Returns that state, once; null: nobody has.
  [[nodiscard]] StateThen take_state(const Hash128& call);

  // A window has ended. held: by cell, whether its caller knew a holder from its begin to its end.
  void on_window(int caller, const routing::Window::Outcome& outcome, const std::vector<bool>& held);
  // `told` samples of a caller count in the cell's gradient, and `accepted` of them are.
  void on_weights(wire::CellIndex cell, SampleCount told, SampleCount accepted);
  // Samples that callers have told holders of the cell.
  [[nodiscard]] SampleCount told(wire::CellIndex cell) const;

  // The coordinator deals: `before` and `after` by volunteer. heard: volunteers that have called lately; ready: those
  // that have the cell's state.
  struct Dealing {
    std::map<PeerId, std::set<wire::CellIndex>> before, after;
    std::set<PeerId> heard;
    std::map<wire::CellIndex, std::set<PeerId>> ready;
  };
  // A cell is only taken from a volunteer that can be heard when enough others have its state. Returns the number of
  // cells that were.
  std::int64_t on_dealt(TimePoint now, const Dealing& dealing);
  // A holder answers a call, and is dealt the cell, or was until a short while ago.
  void on_answered(TimePoint now, const PeerId& holder, wire::CellIndex cell);
  // Nobody, or this volunteer, could hear of the dealing until now.
  void on_heard_again(TimePoint now) {
    for (auto& [key, since] : let_go_) since = now;
  }
  void on_heard_again(TimePoint now, const PeerId& peer) {
    for (auto& [key, since] : let_go_) since = key.first == peer ? now : since;
  }

  // Units that have added to gradients.
  [[nodiscard]] std::int64_t units_back() const { return units_back_; }

 private:
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(run_.model.width); }
  // Names units on the way back by their values, which no two of a cell share.
  [[nodiscard]] std::vector<Hash128> names_of(wire::CellIndex cell, const ExpertUnits& units) const;

  const CellSwarmOptions& options_;
  const wire::RunManifest& run_;
  std::unordered_map<Hash128, int> units_;         // sent back: how often each has added to a gradient
  std::unordered_map<Hash128, StateThen> states_;  // by call
  std::map<wire::CellIndex, SampleCount> told_;
  std::map<std::pair<PeerId, wire::CellIndex>, TimePoint> let_go_;  // since when the holder is dealt it no more
  std::int64_t units_back_ = 0;
  std::string broken_;
};

}  // namespace starling::sim
