// The contribution is averaged as it is, in one leg. Pure.
#pragma once

#include <vector>

#include "client/rounds/reduction.h"

namespace starling::rounds {

class WholeReduction final : public Reduction {
 public:
  // Takes memory for the average.
  explicit WholeReduction(std::size_t floats) : average_(floats) {}

  Move begin(const Contribution& contribution) override;
  Move on_computed() override;
  Move on_leg(const averaging::AveragingOutcome& outcome) override { return outcome; }
  [[nodiscard]] std::span<const float> average() const override { return average_; }

 private:
  std::vector<float> average_;
};

}  // namespace starling::rounds
