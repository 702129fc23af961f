// Local steps: a volunteer steps on its own gradients between two rounds, and what the swarm averages is how far that
// has taken it from the agreed parameters (the pseudo-gradient of DiLoCo, arXiv 2311.08105, algorithm 1; with plain SGD
// inside and an outer learning rate of 1, the parameter averaging of Local SGD, 1805.09767).
//
// Displacements are added up by samples, as gradients are: after k steps on N samples the increments sum up to
// N x (agreed - own). So the averaged vector is the mean displacement weighted by samples; hosts that compute faster
// take more steps; and a process that dies in the middle of a round leaves behind what it has told, with its weight.
// The one that replaces it begins at the agreed parameters, as another volunteer would. Memory: the parameters, the
// inner optimizer's moments, and the parameters once more. The moments stay here: nobody else has them, and they end
// with the process. Own parameters may be moved between steps, to be mixed with others' (client/session/mixing.h): that
// is part of the way from the agreed ones, as a step is.
//
// Where updates are delayed, steps go on while a round is averaged (Streaming DiLoCo, 2501.18512, section 2.3). What
// they add belongs to the next round and is the way from where the round was cut; when the agreed parameters have
// stepped, own ones move along with their beginning, so no step is lost, and none is sent twice:
//
//   own   <- alpha own + (1 - alpha) (agreed + (own - cut))         alpha: merge_alpha
//   begin <- agreed
//
// (The paper has alpha own + (1 - alpha) agreed, which drops 1 - alpha of what was computed meanwhile. It waits for a
// few steps; over home lines an averaging may last as long as a round.) With alpha > 0 a part of how far own parameters
// were from the agreed ones stays, and is sent again with what comes. That takes memory for the parameters once more.
// Where a round averages a fragment (shared/wire/fragments.h), that alone is cut and moves; the sums of the others go
// on. Single-threaded.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/optim/step_journal.h"
#include "shared/base/result.h"
#include "shared/wire/buckets.h"
#include "shared/wire/fragments.h"
#include "shared/wire/run_manifest.h"

namespace starling::optim {

class LocalSteps {
 public:
  // Of a manifest that has `local`. agreed: the parameters that all replicas share; where updates are delayed they are
  // read by begin() and merge() alone, and may change during all else. state: wire::local_state_size floats; moments
  // begin at zero. Both outlive this.
  LocalSteps(const wire::RunManifest& manifest, std::span<const float> agreed, std::span<float> state);

  // Where gradients are to be computed. May be written between steps.
  [[nodiscard]] std::span<float> parameters() { return state_.first(told_.size()); }
  // A new sum begins, from the agreed parameters.
  void begin();
  // Where updates are delayed. A new sum begins where steps have led, of the round's fragment: what was told is
  // averaged.
  void cut(RoundIndex round);
  // The same from parameters that the caller expects to be agreed upon. Of runs without fragments.
  void cut_to(std::span<const float> expected);
  // The averaged step is done: sums go on from the agreed parameters. A second time changes nothing.
  void merge();
  // One step on `gradient`, which is summed over `samples` at parameters() and becomes the sum's increment. corrupt,
  // and nothing may be added, when it is not finite: then nothing has changed; or when the increment is not: then what
  // comes next begins where the sum began.
  // stepped: called after each bucket, all of which is done with it; may be empty.
  Status step(RoundIndex round, SampleCount samples, std::span<float> gradient,
              const std::function<void(const wire::Bucket&)>& stepped = {});

  // The same bucket by bucket, in any order: `gradient` is the whole one, of which the bucket's is complete. When all
  // have stepped, end_step(). On failure as with an increment that is not finite, whatever has stepped before.
  [[nodiscard]] std::span<const wire::Bucket> buckets() const { return buckets_; }
  [[nodiscard]] bool buckets_step_apart() const { return buckets_.size() > 1 && !clips_; }
  Status step_bucket(RoundIndex round, SampleCount samples, const wire::Bucket& bucket, std::span<float> gradient);
  void end_step(SampleCount samples);
  // In place of what remains of a step: what comes next begins where the sum began.
  void drop_step();

 private:
  // Where the sum begins.
  [[nodiscard]] std::span<const float> base() const { return kept_base_.empty() ? agreed_ : kept_base_; }
  void begin_at(std::span<const float> base);
  // A bucket whose gradient is a mean. Whether what it adds is finite.
  bool take_step(RoundIndex round, SampleCount samples, const wire::Bucket& bucket, float gradient_scale,
                 std::span<float> gradient);
  // What a fragment's steps have added, in the gradient's place, between these coordinates. Not finite if any is not.
  float tell(std::size_t fragment, std::size_t begin, std::size_t end, SampleCount samples, std::span<float> gradient);
  Error dropped(RoundIndex round);

  Optimizer optimizer_;
  bool clips_;
  float merge_alpha_;
  std::span<const float> agreed_;
  std::span<float> state_;        // [parameters | moments]
  std::vector<float> told_;       // parameters that the increments so far add up to
  std::vector<float> kept_base_;  // where updates are delayed; empty: sums begin at the agreed parameters
  std::unique_ptr<StepJournal> journal_;
  RoundIndex taken_ = 0;               // steps that the moments have seen
  std::vector<wire::Bucket> buckets_;  // one, of all parameters, where nobody mixes
  std::vector<Optimizer> steppers_;    // by bucket
  std::vector<wire::Fragment> fragments_;
  std::vector<SampleCount> samples_;  // of the sum, by fragment
};

}  // namespace starling::optim
