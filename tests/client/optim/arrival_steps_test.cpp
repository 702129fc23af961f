#include "client/optim/arrival_steps.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/run/cells.h"
#include "tests/client/optim/noise.h"

using namespace starling;
using namespace starling::optim;
using starling::optim::testing::noise;

namespace {

wire::RunManifest cell_manifest(double learning_rate) {
  wire::RunManifest manifest;
  manifest.model.architecture = wire::Architecture::decoder;
  manifest.model.layers = 2;
  manifest.model.width = 8;
  manifest.model.heads = 2;
  manifest.model.context = 4;
  manifest.model.mlp_width = 16;
  manifest.model.experts.rows = 4;
  manifest.model.experts.cells.experts = 2;
  manifest.model.experts.cells.update = wire::CellUpdate::arrival;
  manifest.optimizer = wire::default_optimizer(wire::OptimizerKind::adamw);
  manifest.optimizer.clip_norm = 0;
  manifest.schedule = {.kind = wire::ScheduleKind::constant, .learning_rate = learning_rate, .warmup_rounds = 0};
  return wire::piece_of(manifest, 1);
}

// A holder, with the parameters that it shares with others.
struct Holder {
  explicit Holder(double learning_rate = 1e-3) : manifest(cell_manifest(learning_rate)) { steps.begin(); }

  Status step(std::uint64_t seed, double samples = 2) {
    std::vector<float> gradient = noise(agreed.size(), seed);
    return steps.step(0, samples, gradient);
  }
  [[nodiscard]] std::span<const float> parameters() const { return std::span(own).first(agreed.size()); }
  [[nodiscard]] double error(const std::vector<float>& sum, double samples) const {
    double worst = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      worst = std::max(worst, std::abs(sum[i] - samples * (agreed[i] - parameters()[i])));
    }
    return worst;
  }

  wire::RunManifest manifest;
  std::vector<float> agreed = noise(wire::parameter_count(manifest.model), 1);
  std::vector<float> own = std::vector<float>(wire::local_state_size(manifest));
  ArrivalSteps steps{manifest, agreed, own};
};

}  // namespace

TEST_CASE("a step on arrival is the run's optimizer's, on the mean of the samples") {
  Holder holder;
  const Optimizer optimizer(holder.manifest.local->optimizer, holder.manifest.local->schedule,
                            wire::model_layout(holder.manifest.model));
  const auto journal = std::make_unique<StepJournal>();
  std::vector<float> expected(holder.own.size());
  std::copy(holder.agreed.begin(), holder.agreed.end(), expected.begin());
  for (RoundIndex step = 0; step < 4; ++step) {
    std::vector<float> mean = noise(holder.agreed.size(), 10 + static_cast<std::uint64_t>(step));
    for (float& value : mean) value *= 0.5F;
    REQUIRE(optimizer.step(step, mean, expected, *journal).ok());
    REQUIRE(holder.step(10 + static_cast<std::uint64_t>(step)).ok());
    CHECK((holder.own == expected));
  }
}

TEST_CASE("what a round gets, in however many pieces, is all samples times the way from the agreed parameters") {
  Holder holder;
  std::vector<float> sum(holder.agreed.size());
  double stepped = 0;
  SampleCount told = 0;
  for (std::uint64_t step = 0; step < 12; ++step) {
    REQUIRE(holder.step(20 + step, 0.75).ok());
    stepped += 0.75;
    if (step % 4 != 3) continue;
    told += holder.steps.take(sum);
    CHECK(told == static_cast<SampleCount>(stepped));
    CHECK(holder.error(sum, static_cast<double>(told)) < 1e-4);
  }
  CHECK(told == 9);
  const std::vector<float> before = sum;
  CHECK(holder.steps.take(sum) == 0);
  CHECK((sum == before));
}

TEST_CASE("steps that are taken while a round is averaged count in the next one, once") {
  Holder one, other;
  for (std::uint64_t step = 0; step < 5; ++step) REQUIRE(one.step(30 + step).ok());
  for (std::uint64_t step = 0; step < 3; ++step) REQUIRE(other.step(40 + step).ok());
  std::vector<float> sum(one.agreed.size());
  const SampleCount samples = one.steps.take(sum) + other.steps.take(sum);
  CHECK(samples == 16);
  const std::vector<float> taken(one.parameters().begin(), one.parameters().end());
  REQUIRE(one.step(50).ok());  // the round is averaged meanwhile
  std::vector<float> after(one.parameters().begin(), one.parameters().end());
  for (Holder* const holder : {&one, &other}) {
    for (std::size_t i = 0; i < sum.size(); ++i) holder->agreed[i] -= sum[i] / static_cast<float>(samples);
    holder->steps.go_on();
  }
  CHECK(std::equal(other.agreed.begin(), other.agreed.end(), one.agreed.begin()));
  double apart = 0, kept = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    apart = std::max<double>(apart, std::abs(other.parameters()[i] - other.agreed[i]));
    kept = std::max<double>(kept, std::abs((one.parameters()[i] - one.agreed[i]) - (after[i] - taken[i])));
  }
  CHECK(apart < 1e-6);
  CHECK(kept < 1e-6);
  std::vector<float> next(sum.size());
  CHECK(one.steps.take(next) == 2);
  CHECK(one.error(next, 2) < 1e-5);
  CHECK(other.steps.take(next) == 0);
}

TEST_CASE("what a holder stepped is dropped when the agreed parameters are others") {
  Holder holder;
  REQUIRE(holder.step(3).ok());
  std::ranges::copy(noise(holder.agreed.size(), 99), holder.agreed.begin());  // in place: the steps refer to it
  holder.steps.begin();
  CHECK(std::equal(holder.agreed.begin(), holder.agreed.end(), holder.parameters().begin()));
  std::vector<float> sum(holder.agreed.size());
  CHECK(holder.steps.take(sum) == 0);
}

TEST_CASE("a gradient that is not finite changes nothing, and steps out of the finite numbers lead back") {
  Holder holder(1e38);
  std::vector<float> broken(holder.agreed.size(), std::numeric_limits<float>::quiet_NaN());
  const std::vector<float> before = holder.own;
  CHECK(holder.steps.step(0, 1, broken).error().code == ErrorCode::corrupt);
  CHECK((holder.own == before));
  Status status = holder.step(1);
  for (std::uint64_t step = 0; step < 8 && status.ok(); ++step) status = holder.step(2 + step);
  CHECK(status.error().code == ErrorCode::corrupt);
  CHECK(std::equal(holder.agreed.begin(), holder.agreed.end(), holder.parameters().begin()));
  std::vector<float> sum(holder.agreed.size());
  CHECK(holder.steps.take(sum) == 0);
}
