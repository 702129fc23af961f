// The peer's part in audits: it keeps a state, and recomputes others' samples at it.
#include <algorithm>
#include <utility>

#include "client/session/failure_text.h"
#include "shared/swarm/sketch.h"
#include "tests/sim/peer.h"

namespace starling::sim {

bool Peer::keep_audited_state(RoundIndex round) {
  if (previous_state_.empty()) return false;
  audited_[round].assign(previous_state_.begin(), previous_state_.begin() + std::ssize(parameters()));
  return true;
}

void Peer::start_audit(const session::Audits::Piece& piece) {
  const auto done = [this, samples = piece.samples, parts = piece.parts, kept = audited_.at(piece.round)] {
    if (has_unusable(samples)) {
      session_->on_audited(world_.scheduler().now(), Error{ErrorCode::corrupt, std::string(session::kNotFinite)});
      return after_session_event();
    }
    std::vector<float> sum(kept.size());
    learner_->audit(samples, kept, sum);
    world_.on_recomputed(*this, samples, sum);
    std::vector<double> sketches;
    for (const wire::SketchedPart& part : parts) {
      swarm::Sketch sketch{};
      const auto first = static_cast<std::size_t>(part.first);
      const auto floats = static_cast<std::size_t>(part.floats);
      if (first + floats <= sum.size()) {
        swarm::add_to_sketch(part.seed, part.first, std::span(sum).subspan(first, floats), sketch);
      }
      sketches.insert(sketches.end(), sketch.begin(), sketch.end());
    }
    session_->on_audited(world_.scheduler().now(), sketches);
    after_session_event();
  };
  schedule(world_.scheduler().now() + from_seconds(batch_seconds(piece.samples.count)), done);
}

std::optional<wire::OwnSketches> Peer::own_sketches(RoundIndex /*round*/, const Hash128& seed) {
  return payload_->own_sketches(seed);
}

}  // namespace starling::sim
