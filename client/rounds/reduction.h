// How a contribution becomes the group's average: in one leg, or in several with computations between them.
#pragma once

#include <span>

#include "client/rounds/leg.h"

namespace starling::rounds {

// A contribution to a round that has been planned.
struct Contribution {
  wire::GroupInfo plan;
  averaging::Rank self = 0;
  averaging::ContributionTerms terms;
  std::span<const float> own;  // the sum of terms.weight samples; empty for a member that only listens
  // The agreed state at the beginning of the round, [parameters | moments]. Computations read it, nobody else.
  std::span<const float> state{};
};

// begin() comes first, and is no outcome yet; then on_computed() answers a Computation and on_leg() a Leg, until a move
// is an outcome. A new begin() may replace an averaging that the caller has ended. Single-threaded, except for what
// Computations do.
class Reduction {
 public:
  virtual ~Reduction() = default;
  virtual Move begin(const Contribution& contribution) = 0;
  virtual Move on_computed() = 0;
  virtual Move on_leg(const averaging::AveragingOutcome& outcome) = 0;
  // The average, once the verdict is averaged.
  [[nodiscard]] virtual std::span<const float> average() const = 0;
};

}  // namespace starling::rounds
