#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/base/permutation.h"

using namespace starling;
using namespace starling::optim;

namespace {

wire::RunManifest small_manifest() {
  wire::RunManifest manifest;
  manifest.model.layers = 1;
  manifest.model.width = 16;
  manifest.model.heads = 2;
  manifest.model.context = 8;
  manifest.schedule.warmup_rounds = 10;
  manifest.schedule.total_rounds = 110;
  manifest.schedule.final_fraction = 0.1;
  manifest.schedule.learning_rate = 1e-2;
  return manifest;
}

float noise(std::uint64_t seed, std::size_t i) {
  return static_cast<float>(static_cast<double>(mix64(seed * 1000003 + i) >> 11) * 0x1p-53 - 0.5);
}

// The update as the paper states it, in double precision, one element at a time.
struct Reference {
  std::vector<double> p, m, v;

  void step(const wire::OptimizerOptions& o, double learning_rate, RoundIndex round, const std::vector<double>& g,
            const std::vector<bool>& decayed) {
    const double t = static_cast<double>(round) + 1;
    for (std::size_t i = 0; i < p.size(); ++i) {
      m[i] = o.beta1 * m[i] + (1 - o.beta1) * g[i];
      v[i] = o.beta2 * v[i] + (1 - o.beta2) * g[i] * g[i];
      const double m_hat = m[i] / (1 - std::pow(o.beta1, t));
      const double v_hat = v[i] / (1 - std::pow(o.beta2, t));
      if (decayed[i]) p[i] -= learning_rate * o.weight_decay * p[i];
      p[i] -= learning_rate * m_hat / (std::sqrt(v_hat) + o.epsilon);
    }
  }
};

}  // namespace

TEST_CASE("a hundred steps follow the formula in double precision") {
  const wire::RunManifest manifest = small_manifest();
  const Optimizer optimizer(manifest);
  const std::size_t n = optimizer.parameter_count();
  std::vector<float> state(optimizer.state_size());
  for (std::size_t i = 0; i < n; ++i) state[i] = noise(1, i);
  std::vector<bool> decayed(n);
  for (const auto& info : wire::model_layout(manifest.model)) {
    for (std::size_t i = 0; i < info.count; ++i) decayed[info.offset + i] = info.decayed;
  }
  Reference reference{
      {state.begin(), state.begin() + static_cast<std::ptrdiff_t>(n)}, std::vector<double>(n), std::vector<double>(n)};

  const auto journal = std::make_unique<StepJournal>();
  std::vector<float> gradient(n);
  for (RoundIndex round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < n; ++i) gradient[i] = noise(2 + static_cast<std::uint64_t>(round), i) * 0.2F;
    double norm = 0;
    for (const float g : gradient) norm += static_cast<double>(g) * g;
    const double scale = std::min(1.0, manifest.optimizer.clip_norm / std::sqrt(norm));
    std::vector<double> clipped(n);
    for (std::size_t i = 0; i < n; ++i) clipped[i] = gradient[i] * scale;
    REQUIRE(optimizer.step(round, gradient, state, *journal).ok());
    reference.step(manifest.optimizer, optimizer.learning_rate(round), round, clipped, decayed);
  }
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(state[i] - reference.p[i]));
  CHECK(worst < 2e-6);  // values of about 1, a hundred roundings of 6e-8 each
}

TEST_CASE("a long gradient is cut to the clipping norm, a short one is not") {
  wire::RunManifest manifest = small_manifest();
  manifest.optimizer.clip_norm = 1;
  const Optimizer optimizer(manifest);
  const std::size_t n = optimizer.parameter_count();
  const auto first_moments_after = [&](float value) {
    std::vector<float> state(optimizer.state_size());
    const auto journal = std::make_unique<StepJournal>();
    REQUIRE(optimizer.step(0, std::vector<float>(n, value), state, *journal).ok());
    return state[n];
  };
  const float unit = 1 / std::sqrt(static_cast<float>(n));
  CHECK(first_moments_after(unit / 2) == doctest::Approx(0.1 * unit / 2));
  CHECK(first_moments_after(unit * 50) == doctest::Approx(0.1 * unit));
}

TEST_CASE("a gradient that is not finite is refused and touches nothing") {
  const Optimizer optimizer(small_manifest());
  std::vector<float> state(optimizer.state_size(), 0.5F);
  const std::vector<float> before = state;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30F}) {
    std::vector<float> gradient(optimizer.parameter_count(), 0.1F);
    gradient.back() = bad;
    const auto journal = std::make_unique<StepJournal>();
    const Status status = optimizer.step(3, gradient, state, *journal);
    REQUIRE(!status.ok());
    CHECK(status.error().code == ErrorCode::corrupt);
    CHECK(state == before);
    CHECK(!journal->in_progress(3));
  }
}

TEST_CASE("fifty steps give the same bits with every compiler, option and processor") {
  const Optimizer optimizer(small_manifest());
  const std::size_t n = optimizer.parameter_count();
  std::vector<float> state(optimizer.state_size());
  for (std::size_t i = 0; i < n; ++i) state[i] = noise(8, i);
  const auto journal = std::make_unique<StepJournal>();
  std::vector<float> gradient(n);
  for (RoundIndex round = 0; round < 50; ++round) {
    for (std::size_t i = 0; i < n; ++i) gradient[i] = noise(9 + static_cast<std::uint64_t>(round), i);
    REQUIRE(optimizer.step(round, gradient, state, *journal).ok());
  }
  std::uint64_t hash = 0;
  for (const float value : state) hash = mix64(hash ^ std::bit_cast<std::uint32_t>(value));
  CHECK(hash == 18358618777305143688ULL);
}
