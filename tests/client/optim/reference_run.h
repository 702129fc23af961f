// Our optimizers beside formulas written out in double precision, one tensor at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shared/run/model_layout.h"

namespace starling::optim::testing {

// A formula's memory of one tensor. All vectors are as long as the tensor; those of moments begin at zero.
struct ReferenceTensor {
  wire::ParameterInfo info;
  std::vector<double> p, m, v, a;
};

// One step of round t - 1 with gradient g (clipped already).
struct ReferenceStep {
  const wire::OptimizerOptions& options;
  double learning_rate;
  double t;
  const std::vector<double>& g;
};
using ReferenceFormula = std::function<void(ReferenceTensor&, const ReferenceStep&)>;

double norm(const std::vector<double>& values);

// A small model with decayed, plain, square and oblong tensors.
wire::RunManifest reference_manifest(wire::OptimizerKind kind);

// Length of the difference over the length of the values after this many rounds on equal noise, for the tensor where
// the quotient is largest.
double difference_after(RoundIndex rounds, const wire::RunManifest& manifest, const ReferenceFormula& formula);

}  // namespace starling::optim::testing
