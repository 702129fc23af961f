// Whose turn it is to send the coordinator a copy of the state: one member at a time, every so many rounds. The copy is
// what a run goes on from when everybody who held its state has gone.
#pragma once

#include <optional>

#include "coordinator/core/types.h"

namespace starling::core {

class CheckpointTurn {
 public:
  // every: rounds between two copies; 0: there are none.
  CheckpointTurn(RoundIndex every, std::optional<wire::Checkpoint> newest) : every_(every), newest_(newest) {}

  struct Turn {
    PeerId peer;
    RoundIndex round = 0;
    Digest state_digest;
    TimePoint heard{};  // of the last piece, or when it was asked
  };
  // Whether `peer`, which holds the state at the start of `round`, should send it. It is asked once, and again while no
  // piece has come.
  bool ask(TimePoint now, const PeerId& peer, RoundIndex round, const Digest& state_digest,
           const CoordinatorOptions& options);
  // A turn is due, and nobody has it.
  [[nodiscard]] bool due(TimePoint now, RoundIndex round, const CoordinatorOptions& options) const;
  // The turn of `peer`, which something of has arrived just now; null when it has none.
  const Turn* heard(TimePoint now, const PeerId& peer);
  // That turn is over: in vain …
  void given_up(TimePoint now, const PeerId& peer);
  // … or with a copy.
  void kept(TimePoint now, const wire::Checkpoint& checkpoint);

  [[nodiscard]] const std::optional<wire::Checkpoint>& newest() const { return newest_; }

 private:
  RoundIndex every_;
  std::optional<wire::Checkpoint> newest_;
  std::optional<Turn> turn_;
  std::optional<TimePoint> last_at_;  // the last turn ended
};

}  // namespace starling::core
