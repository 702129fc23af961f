// Sums of rounds that average the whole vector: one for the present round, and one for the next round, which batches
// fill while slower members may still ask for the present one. Pure.
#pragma once

#include <array>
#include <vector>

#include "client/rounds/gradient_sums.h"

namespace starling::rounds {

class WholeGradient final : public GradientSums {
 public:
  // Takes memory for the parameters twice.
  explicit WholeGradient(std::size_t parameters);

  std::span<float> into(bool next_round) override { return buffers_[next_round ? 1 - present_ : present_]; }
  [[nodiscard]] bool begins_each_round() const override { return true; }
  void on_batch(SampleCount) override {}
  std::span<const float> cut(RoundIndex round, SampleCount samples, SampleCount weight) override;
  [[nodiscard]] std::span<const float> last_cut() const override { return buffers_[cut_]; }
  void put_back() override;
  void finish_round() override;
  void clear() override {}  // each sum starts from zero with its first batch

 private:
  std::array<std::vector<float>, 2> buffers_;
  std::size_t present_ = 0;
  std::size_t cut_ = 0;   // the one that was contributed last
  double cut_share_ = 1;  // it was scaled by this
};

}  // namespace starling::rounds
