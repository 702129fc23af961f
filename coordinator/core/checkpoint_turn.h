// Decides which member sends the coordinator a copy of the state: one member at a time, every few rounds. A run goes on
// from that copy when everybody who held its state has gone.
#pragma once

#include <optional>
#include <set>

#include "coordinator/core/types.h"

namespace starling::core {

// The turns of the members that send a copy.
class CheckpointTurn {
 public:
  // `every` is the number of rounds between two copies; 0: no copies.
  CheckpointTurn(RoundIndex every, std::optional<wire::Checkpoint> newest) : every_(every), newest_(newest) {}

  struct Turn {
    PeerId peer;
    RoundIndex round = 0;
    Digest state_digest;
    TimePoint heard{};        // when the last piece came, or when the member was asked
    bool is_settled = false;  // pieces have come, or it was asked for another state before
  };
  // Returns whether `peer`, which holds the state at the start of `round`, should send it. It is asked once, and again
  // while no piece has come; after a while, once, for the state that it has by then: it may have stepped before it
  // heard of its turn.
  bool ask(TimePoint now, const PeerId& peer, RoundIndex round, const Digest& state_digest,
           const CoordinatorOptions& options);
  // True if a turn is due and nobody has it.
  [[nodiscard]] bool due(TimePoint now, RoundIndex round, const CoordinatorOptions& options) const;
  // True if the peer was asked since the last copy was kept, and has not sent one.
  [[nodiscard]] bool has_failed(const PeerId& peer) const {
    return failed_.contains(peer) || (turn_ && turn_->peer == peer);
  }
  // Returns the turn of `peer`, of which a piece has just arrived; null if it has none.
  const Turn* heard(TimePoint now, const PeerId& peer);
  // Ends the peer's turn without a copy.
  void given_up(TimePoint now, const PeerId& peer);
  // Ends the turn with a copy that is kept.
  void kept(TimePoint now, const wire::Checkpoint& checkpoint);

  [[nodiscard]] const std::optional<wire::Checkpoint>& newest() const { return newest_; }

 private:
  RoundIndex every_;
  std::optional<wire::Checkpoint> newest_;
  std::optional<Turn> turn_;
  std::optional<TimePoint> last_at_;  // when the last turn ended
  std::set<PeerId> failed_;           // had a turn since the last copy, and have sent none
};

}  // namespace starling::core
