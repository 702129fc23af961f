// Local steps: a volunteer steps on its own gradients between two rounds, and the swarm averages the displacement from
// the agreed parameters (the pseudo-gradient of DiLoCo, arXiv 2311.08105, algorithm 1; with plain SGD inside and an
// outer learning rate of 1, the parameter averaging of Local SGD, 1805.09767).
//
// Displacements are added up by samples, as gradients are: after k steps on N samples the increments sum up to N x
// (agreed - own). So the averaged vector is the mean displacement weighted by samples; hosts that compute faster take
// more steps; and a process that dies in the middle of a round leaves behind its reported increments, with their
// weight. Its successor begins at the agreed parameters, as another volunteer would. Memory: the parameters, the inner
// optimizer's moments, and the parameters once more. The moments stay here: no other process has them, and they end
// with this one. Own parameters may be moved between steps by gossip with others (client/session/gossip.h): such a move
// is part of the displacement, as a step is.
//
// With delayed updates, steps go on while a round is averaged (Streaming DiLoCo, 2501.18512, section 2.3). Their
// increments belong to the next round and are the displacement from the point where the round was cut; when the agreed
// parameters have stepped, own ones and the start of their displacement move along, so no step is lost, and none is
// sent twice:
//
//   own   <- alpha own + (1 - alpha) (agreed + (own - cut))         alpha: merge_alpha
//   begin <- agreed
//
// (The paper has alpha own + (1 - alpha) agreed, which drops 1 - alpha of the steps taken meanwhile. It waits for a few
// steps; over home lines an averaging may last as long as a round.) With alpha > 0 a part of the distance between own
// and agreed parameters remains, and is sent again with the next increments. Delayed updates take memory for the
// parameters once more. If a round averages a fragment (shared/run/fragments.h), only the fragment is cut and moves;
// the sums of the others go on. Single-threaded.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/optim/step_journal.h"
#include "shared/base/result.h"
#include "shared/run/buckets.h"
#include "shared/run/fragments.h"
#include "shared/run/run_manifest.h"

namespace starling::optim {

class LocalSteps {
 public:
  // `manifest` must have `local`. agreed: the parameters that all replicas share; with delayed updates only begin() and
  // merge() read them, and they may change during other calls. state: wire::local_state_size floats; moments begin at
  // zero. Both spans must outlive this object.
  LocalSteps(const wire::RunManifest& manifest, std::span<const float> agreed, std::span<float> state);

  // Parameters at which gradients are to be computed. The caller may write them between steps.
  [[nodiscard]] std::span<float> parameters() { return state_.first(told_.size()); }
  // Begins a new sum at the agreed parameters.
  void begin();
  // With delayed updates: begins a new sum of the round's fragment at the present parameters, whose increments so far
  // are being averaged.
  void cut(RoundIndex round);
  // With delayed updates and without fragments: begins a new sum at parameters that the caller expects to be agreed
  // upon.
  void cut_to(std::span<const float> expected);
  // Called when the averaged step is done: sums go on from the agreed parameters. A second call changes nothing.
  void merge();
  // Takes one step on `gradient`, which is summed over `samples` at parameters() and becomes the sum's increment.
  // corrupt, and then nothing may be added, in two cases. If the gradient is not finite, nothing has changed; if the
  // increment is not finite, the next step begins where the sum began.
  // stepped: called for each bucket when it has stepped and will not be touched again; may be empty.
  Status step(RoundIndex round, SampleCount samples, std::span<float> gradient,
              const std::function<void(const wire::Bucket&)>& stepped = {});

  // Takes a step bucket by bucket, in any order: `gradient` is the whole one, complete in the bucket's part. end_step()
  // follows when all have stepped. A failure has the effect of an increment that is not finite, whichever buckets have
  // stepped before.
  [[nodiscard]] std::span<const wire::Bucket> buckets() const { return buckets_; }
  [[nodiscard]] bool buckets_step_apart() const { return buckets_.size() > 1 && !clips_; }
  Status step_bucket(RoundIndex round, SampleCount samples, const wire::Bucket& bucket, std::span<float> gradient);
  void end_step(SampleCount samples);
  // Replaces the rest of a step: the next one begins where the sum began.
  void drop_step();

 private:
  // Parameters at which the sum begins.
  [[nodiscard]] std::span<const float> base() const { return kept_base_.empty() ? agreed_ : kept_base_; }
  void begin_at(std::span<const float> base);
  // Steps a bucket on a mean gradient. Returns whether its increment is finite.
  bool take_step(RoundIndex round, SampleCount samples, const wire::Bucket& bucket, float gradient_scale,
                 std::span<float> gradient);
  // Replaces the gradient by the increment of a fragment's steps, between these coordinates. The result is not finite
  // if any increment is not.
  float tell(std::size_t fragment, std::size_t begin, std::size_t end, SampleCount samples, std::span<float> gradient);
  Error dropped(RoundIndex round);

  Optimizer optimizer_;
  bool clips_;
  float merge_alpha_;
  std::span<const float> agreed_;
  std::span<float> state_;        // [parameters | moments]
  std::vector<float> told_;       // parameters that the increments so far add up to
  std::vector<float> kept_base_;  // base with delayed updates; empty: sums begin at the agreed parameters
  std::unique_ptr<StepJournal> journal_;
  RoundIndex taken_ = 0;               // steps that went into the moments
  std::vector<wire::Bucket> buckets_;  // one bucket with all parameters if there is no gossip
  std::vector<Optimizer> steppers_;    // by bucket
  std::vector<wire::Fragment> fragments_;
  std::vector<SampleCount> samples_;  // samples of the sum, by fragment
};

}  // namespace starling::optim
