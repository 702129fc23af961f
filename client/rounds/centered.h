// A reduction whose contributions are bounded around the optimizer's momentum (averaging/norm_bound.h). The momentum is
// a mean of earlier rounds' averages, and part of the state that all members of a plan hold to the bit: so nobody has
// to be told where the center is, newcomers neither. It is copied before the averaging, which others may still be in
// while this member steps on. Pure.
#pragma once

#include <memory>
#include <vector>

#include "client/rounds/reduction.h"
#include "shared/run/optimizer_options.h"

namespace starling::rounds {

// The number by which the first moment has to be multiplied to be a mean of gradients: SGD's is a sum.
float mean_of_momentum(const wire::OptimizerOptions& optimizer);

class Centered final : public Reduction {
 public:
  // `inner` is in one leg, of `floats` floats. Takes memory for as many.
  Centered(std::unique_ptr<Reduction> inner, std::size_t floats, float scale);

  Move begin(const Contribution& contribution) override;
  Move on_computed() override;
  Move on_leg(const averaging::AveragingOutcome& outcome) override { return inner_->on_leg(outcome); }
  [[nodiscard]] std::span<const float> average() const override { return inner_->average(); }

 private:
  std::unique_ptr<Reduction> inner_;
  std::vector<float> center_;
  float scale_;
  Contribution contribution_;
};

}  // namespace starling::rounds
