// A volunteer's part in the averagings of its rounds: which memory a batch adds to, what the volunteer contributes, the
// steps that make the group's average of it, and what becomes of all that when a round does not count. The manifest
// decides: sums of the whole vector or of fragments in turn (gradient_sums.h), averaged as they are or by low-rank
// products, with error feedback or without (reduction.h).
//
// The payload decides and holds the vectors; its caller has the threads, the clock and the network. States:
//
//   beginning ──batch──> growing ──contribute──> contributed ──batch of the next round──> looking_ahead
//       ^                   ^                      │      │                                 │      │
//       ├───── undo ────────┼──────────────────────┘      │                                 │      │
//       ├───── undo ────────┼─────────────────────────────┼─────────────────────────────────┘      │
//       └── step is done ───┼─────────────────────────────┘                                        │
//                           └── step is done ──────────────────────────────────────────────────────┘
//
// Without delayed updates undo() leads back to growing: nothing has happened to the trainer's parameters meanwhile.
//
// Single-threaded, like the session, with which it shares its thread; batches and Computations, which write and read
// the vectors, run elsewhere, one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "client/rounds/batch_order.h"
#include "client/rounds/gradient_sums.h"
#include "client/rounds/leg.h"
#include "client/rounds/reduction.h"
#include "client/rounds/usual_norms.h"
#include "shared/base/result.h"
#include "shared/protocol/audit.h"
#include "shared/run/run_manifest.h"

namespace starling::rounds {

class RoundPayload {
 public:
  // `manifest` has passed wire::check_manifest.
  explicit RoundPayload(const wire::RunManifest& manifest);

  enum class State : std::uint8_t {
    beginning,      // the next batch begins at the agreed parameters
    growing,        // batches add to the present round's sum
    contributed,    // an averaging holds the present round's sum
    looking_ahead,  // the averaging goes on, and batches add to the next round's sum
  };
  [[nodiscard]] State state() const { return state_; }

  // True if a batch with this target shows that the last contribution did not count. Then the caller first ends the
  // averaging, so that nobody reads these vectors any more, and calls undo().
  [[nodiscard]] bool is_undone_by(const BatchTarget& target) const { return holds() && !target.next_round; }
  void undo();
  // The next round is the target while an averaging holds the present round's sum, and only then.
  BatchOrder next_batch(const BatchTarget& target);
  // The batch that was ordered last has added the sum of this number of samples.
  void on_batch(SampleCount samples) { sums_->on_batch(samples); }

  // Begins the averaging of the present round, which this plan is for: with a Leg or a Computation. The caller has
  // ended the averaging before. `state`: the agreed one, [parameters | moments], which Computations read. Where the
  // plan has room for fewer samples than `terms` name, all of them count in the mean that is contributed, with the
  // weight that there is room for. invalid_argument for a plan of another length: then nothing is averaged.
  Result<Move> contribute(const wire::GroupInfo& plan, averaging::Rank self, const averaging::ContributionTerms& terms,
                          std::span<const float> state);
  // The Computation has run.
  Move on_computed() { return limited(reduction_->on_computed()); }
  // The Leg has ended.
  Move on_leg(const averaging::AveragingOutcome& outcome);
  // The common step on average() has been taken: the next round becomes the present one.
  void on_stepped();

  // The round's average (wire::fragment_floats), once its verdict is averaged.
  [[nodiscard]] std::span<const float> average() const { return reduction_->average(); }
  // This volunteer's own part of it: the sum of `samples`, as many as it contributed.
  struct Own {
    std::span<const float> sum;
    SampleCount samples = 0;
  };
  [[nodiscard]] Own own() const { return {sums_->last_cut(), own_samples_}; }
  // This member's sketches of its last contribution and of the average, with the seed of an audit; of the contribution
  // alone where the average is not the contributions' mean (grids, and bounds around a center). Nothing before the
  // outcome is averaged, or where the work cannot be checked (wire::why_not_audited). Reads the whole vectors, and runs
  // the codec over the contribution: it may run on any thread while the averaging goes on, the step is taken and
  // batches of the next round are computed, but it has to end before the next contribute() or undo(). From then on
  // there is nothing to tell any more.
  [[nodiscard]] std::optional<wire::OwnSketches> own_sketches(const Hash128& seed) const;
  // Consensus distance: how far local steps on `own` have led from where the average of all is, relative to the length
  // of that part of the agreed parameters (parameter_count floats) that the round averages. 0 where gradients are
  // averaged. May be called where the step is taken, before it.
  [[nodiscard]] double consensus_distance(RoundIndex round, const Own& own, std::span<const float> agreed) const;

 private:
  [[nodiscard]] bool holds() const { return state_ == State::contributed || state_ == State::looking_ahead; }
  // Sets the limits by which members are lost, or scaled down, in a leg.
  [[nodiscard]] Move limited(Move move);

  wire::RunManifest manifest_;
  std::unique_ptr<GradientSums> sums_;
  std::unique_ptr<Reduction> reduction_;
  State state_ = State::beginning;
  SampleCount own_samples_ = 0;  // samples of the last contribution
  UsualNorms usual_norms_;
  UsualNorms::Kind leg_;  // the leg under way, or the last
  // The plan that was averaged last, if its sketches may be asked for.
  struct Audited {
    wire::GroupInfo plan;
    averaging::Rank self = 0;
    bool averaged = false;
  };
  std::optional<Audited> audited_;
};

}  // namespace starling::rounds
