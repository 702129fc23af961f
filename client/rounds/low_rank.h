// A reduction by low-rank products (client/averaging/power_sgd.h): two legs of short vectors in place of one, with
// computations before, between and after them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "client/averaging/power_sgd.h"
#include "client/rounds/reduction.h"
#include "shared/run/run_manifest.h"

namespace starling::rounds {

class LowRank final : public Reduction {
 public:
  // manifest.round.low_rank is above 0. Takes memory for the average and the residual, and for both short vectors
  // thrice.
  explicit LowRank(const wire::RunManifest& manifest);

  Move begin(const Contribution& contribution) override;
  Move on_computed() override;
  Move on_leg(const averaging::AveragingOutcome& outcome) override;
  [[nodiscard]] std::span<const float> average() const override { return average_; }

 private:
  enum class Stage : std::uint8_t { idle, projecting, averaging_left, projecting_back, averaging_right, finishing };

  [[nodiscard]] Leg leg(std::size_t index);

  averaging::PowerSgd power_;               // Computations alone use it
  std::array<std::vector<float>, 2> sent_;  // by leg
  std::array<std::vector<float>, 2> arrived_;
  std::vector<float> average_;
  Stage stage_ = Stage::idle;
  Contribution contribution_;
  averaging::AveragingOutcome outcome_;  // outcome of the first leg; then of both
};

}  // namespace starling::rounds
