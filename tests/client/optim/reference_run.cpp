#include "tests/client/optim/reference_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "client/optim/optimizer.h"
#include "shared/base/permutation.h"
#include "shared/state/initial_state.h"

namespace starling::optim::testing {

namespace {

float noise(std::uint64_t seed, std::size_t i) {
  return static_cast<float>(static_cast<double>(mix64(mix64(seed) + i) >> 11) * 0x1p-53 - 0.5);
}

double clipping(const std::vector<float>& gradient, double clip_norm) {
  double squares = 0;
  for (const double g : gradient) squares += g * g;
  return clip_norm > 0 ? std::min(1.0, clip_norm / std::sqrt(squares)) : 1.0;
}

}  // namespace

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

wire::RunManifest reference_manifest(wire::OptimizerKind kind) {
  wire::RunManifest manifest;
  manifest.model = {.layers = 2, .width = 32, .heads = 2, .context = 16};
  manifest.optimizer = wire::default_optimizer(kind);
  manifest.schedule.warmup_rounds = 10;
  manifest.schedule.total_rounds = 100;
  return manifest;
}

double difference_after(RoundIndex rounds, const wire::RunManifest& manifest, const ReferenceFormula& formula) {
  const Optimizer optimizer(manifest);
  std::vector<float> state(optimizer.state_size());
  state::fill_initial_state(manifest, state);
  std::vector<ReferenceTensor> tensors;
  for (const wire::ParameterInfo& info : wire::model_layout(manifest.model)) {
    const auto begin = state.begin() + static_cast<std::ptrdiff_t>(info.offset);
    const std::vector<double> zeros(info.count);
    tensors.push_back({info, {begin, begin + static_cast<std::ptrdiff_t>(info.count)}, zeros, zeros, zeros});
  }
  const auto journal = std::make_unique<StepJournal>();
  std::vector<float> gradient(optimizer.parameter_count());
  for (RoundIndex round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = noise(static_cast<std::uint64_t>(round), i);
    REQUIRE(optimizer.step(round, gradient, state, *journal).ok());
    const double scale = clipping(gradient, manifest.optimizer.clip_norm);
    for (ReferenceTensor& tensor : tensors) {
      std::vector<double> g(tensor.info.count);
      for (std::size_t i = 0; i < g.size(); ++i) g[i] = gradient[tensor.info.offset + i] * scale;
      formula(tensor, {manifest.optimizer, optimizer.learning_rate(round), static_cast<double>(round) + 1, g});
    }
  }
  double worst = 0;
  for (const ReferenceTensor& tensor : tensors) {
    std::vector<double> apart(tensor.p.size());
    for (std::size_t i = 0; i < apart.size(); ++i) apart[i] = state[tensor.info.offset + i] - tensor.p[i];
    worst = std::max(worst, norm(apart) / norm(tensor.p));
  }
  return worst;
}

}  // namespace starling::optim::testing
