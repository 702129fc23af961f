// A volunteer's contributions where rounds average a fragment of the vector in turn: samples x displacement
// (client/optim/local_steps.h), added up for each fragment since that was sent last, over as many rounds as there are
// fragments. In its round a fragment brings the mean displacement with the round's own samples as its weight: only
// those samples count, and each counts once. Pure.
#pragma once

#include <span>
#include <vector>

#include "shared/base/ids.h"
#include "shared/run/run_manifest.h"

namespace starling::session {

class FragmentSums {
 public:
  // Takes memory for the parameters, and a fragment.
  explicit FragmentSums(const wire::RunManifest& manifest);

  // Returns parameter_count floats, into which a batch may add.
  [[nodiscard]] std::span<float> growing() { return sums_; }
  // Notes that a batch has added the sum of this number of samples.
  void on_batch(SampleCount samples);
  // Returns the contribution of the fragment of `round`, as the sum of `samples` (above 0, with a batch since the round
  // before): wire::fragment_floats, valid until the next cut. The fragment's sum starts from zero again.
  std::span<const float> cut(RoundIndex round, SampleCount samples);
  [[nodiscard]] std::span<const float> last_cut() const { return cut_; }
  // Adds the last cut back to its fragment's sum, because it did not count.
  void put_back();
  void clear();

 private:
  wire::RunManifest manifest_;
  std::vector<float> sums_;
  std::vector<SampleCount> samples_;  // by fragment
  std::vector<float> cut_;            // mean displacement x cut_weight_
  RoundIndex cut_round_ = 0;
  SampleCount cut_weight_ = 0;   // 0: there is nothing to put back
  SampleCount cut_samples_ = 0;  // samples that were in the cut's sum
};

}  // namespace starling::session
