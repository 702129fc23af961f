#include "client/rounds/whole_reduction.h"

#include "shared/base/verify.h"

namespace starling::rounds {

Move WholeReduction::begin(const Contribution& contribution) {
  Leg leg;
  leg.group = contribution.plan;
  leg.self = contribution.self;
  leg.vectors.weight = contribution.terms.weight;
  leg.vectors.draw = contribution.terms.draw;
  leg.vectors.input = contribution.own;
  leg.vectors.output = average_;
  return leg;
}

Move WholeReduction::on_computed() {
  VERIFY(false);  // there are no computations
  return averaging::AveragingOutcome{};
}

}  // namespace starling::rounds
