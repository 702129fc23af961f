// A volunteer's contributions where rounds average a fragment of the vector in turn: samples x displacement
// (client/optim/local_steps.h), added up for each fragment since that was sent last, over as many rounds as there are
// fragments. In its round a fragment brings the mean displacement with the round's own samples as its weight: only
// those samples count, and each counts once. Pure.
#pragma once

#include <vector>

#include "client/rounds/gradient_sums.h"
#include "shared/run/run_manifest.h"

namespace starling::rounds {

class FragmentSums final : public GradientSums {
 public:
  // Takes memory for the parameters, and a fragment.
  explicit FragmentSums(const wire::RunManifest& manifest);

  std::span<float> into(bool) override { return sums_; }
  [[nodiscard]] bool begins_each_round() const override { return false; }
  void on_batch(SampleCount samples) override;
  // The fragment's sum starts from zero again.
  std::span<const float> cut(RoundIndex round, SampleCount samples, SampleCount weight) override;
  [[nodiscard]] std::span<const float> last_cut() const override { return cut_; }
  void put_back() override;
  void finish_round() override { cut_weight_ = 0; }
  void clear() override;

 private:
  wire::RunManifest manifest_;
  std::vector<float> sums_;
  std::vector<SampleCount> samples_;  // by fragment
  std::vector<float> cut_;            // mean displacement x cut_weight_
  RoundIndex cut_round_ = 0;
  SampleCount cut_weight_ = 0;   // 0: there is nothing to put back
  SampleCount cut_samples_ = 0;  // samples that were in the cut's sum
};

}  // namespace starling::rounds
