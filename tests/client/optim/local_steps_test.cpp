#include "client/optim/local_steps.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "shared/base/words.h"
#include "shared/run/model_layout.h"
#include "tests/client/optim/noise.h"

using namespace starling;
using namespace starling::optim;
using starling::optim::testing::noise;

namespace {

constexpr SampleCount kSamples = 4;  // samples in a step

wire::RunManifest local_manifest(wire::OptimizerKind kind, double learning_rate) {
  wire::RunManifest manifest;
  manifest.model.layers = 1;
  manifest.model.width = 16;
  manifest.model.heads = 2;
  manifest.model.context = 8;
  manifest.local.emplace();
  manifest.local->optimizer = wire::default_optimizer(kind);
  manifest.local->optimizer.momentum = 0;
  manifest.local->optimizer.weight_decay = 0;
  manifest.local->optimizer.clip_norm = 0;
  manifest.local->schedule = {.kind = wire::ScheduleKind::constant, .learning_rate = learning_rate, .warmup_rounds = 0};
  return manifest;
}

// Local steps, and the memory they work on.
struct Own {
  explicit Own(const wire::RunManifest& manifest)
      : agreed(noise(wire::parameter_count(manifest.model), 1)),
        state(wire::local_state_size(manifest)),
        local(manifest, agreed, state) {
    local.begin();
  }
  std::vector<float> agreed, state;
  LocalSteps local;
};

// Error of the sum of increments, which should be samples times displacement.
double error_of(const std::vector<float>& sum, const std::vector<float>& agreed, std::span<const float> own,
                SampleCount samples) {
  double worst = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    worst = std::max(worst, std::abs(sum[i] - static_cast<double>(samples) * (agreed[i] - own[i])));
  }
  return worst;
}

}  // namespace

TEST_CASE("increments of any number of steps add up to samples times the way from the agreed parameters") {
  for (const wire::OptimizerKind kind :
       {wire::OptimizerKind::sgd, wire::OptimizerKind::adamw, wire::OptimizerKind::lamb, wire::OptimizerKind::muon}) {
    CAPTURE(word_of(kind));
    Own own(local_manifest(kind, 1e-3));
    LocalSteps& local = own.local;
    const std::size_t size = local.parameters().size();
    std::vector<float> sum(size);
    for (std::uint64_t step = 0; step < 25; ++step) {
      std::vector<float> gradient = noise(size, 2 + step);
      REQUIRE(local.step(0, kSamples, gradient).ok());
      for (std::size_t i = 0; i < size; ++i) sum[i] += gradient[i];
      CHECK(error_of(sum, own.agreed, local.parameters(), kSamples * static_cast<SampleCount>(step + 1)) < 1e-4);
    }
    CHECK(*std::max_element(sum.begin(), sum.end()) > 0.1);
  }
}

TEST_CASE("steps are the inner optimizer's, to the bit, and its moments stay from round to round") {
  const wire::RunManifest manifest = local_manifest(wire::OptimizerKind::adamw, 1e-2);
  Own own(manifest);
  LocalSteps& local = own.local;
  wire::RunManifest alone = manifest;
  alone.optimizer = manifest.local->optimizer;
  alone.schedule = manifest.local->schedule;
  const Optimizer optimizer(alone);
  const auto journal = std::make_unique<StepJournal>();
  std::vector<float> state(optimizer.state_size());
  const std::vector<float>& agreed = own.agreed;
  for (RoundIndex step = 0; step < 6; ++step) {
    if (step % 3 == 0) {  // a round of three steps
      local.begin();
      std::copy(agreed.begin(), agreed.end(), state.begin());
    }
    std::vector<float> summed = noise(agreed.size(), 10 + static_cast<std::uint64_t>(step));
    std::vector<float> mean = summed;
    for (float& value : mean) value *= 1.0F / kSamples;
    REQUIRE(local.step(step / 3, kSamples, summed).ok());
    REQUIRE(optimizer.step(step, mean, state, *journal).ok());
    CHECK(std::equal(agreed.begin(), agreed.end(), state.begin()) == false);
    CHECK(std::equal(local.parameters().begin(), local.parameters().end(), state.begin()));
  }
}

TEST_CASE("what moves own parameters between steps is part of the way that is added up") {
  Own own(local_manifest(wire::OptimizerKind::adamw, 1e-3));
  LocalSteps& local = own.local;
  const std::size_t size = local.parameters().size();
  std::vector<float> sum(size);
  for (std::uint64_t step = 0; step < 10; ++step) {
    const std::vector<float> moved = noise(size, 100 + step);
    for (std::size_t i = 0; i < size; ++i) local.parameters()[i] += 1e-3F * moved[i];
    std::vector<float> gradient = noise(size, 2 + step);
    REQUIRE(local.step(0, kSamples, gradient).ok());
    for (std::size_t i = 0; i < size; ++i) sum[i] += gradient[i];
    CHECK(error_of(sum, own.agreed, local.parameters(), kSamples * static_cast<SampleCount>(step + 1)) < 1e-4);
  }
}

TEST_CASE("with one plain step of rate r, the displacement is r times the gradient") {
  Own own(local_manifest(wire::OptimizerKind::sgd, 0.25));
  LocalSteps& local = own.local;
  const std::vector<float> summed = noise(local.parameters().size(), 2);
  std::vector<float> increment = summed;
  REQUIRE(local.step(0, kSamples, increment).ok());
  double worst = 0;
  for (std::size_t i = 0; i < summed.size(); ++i)
    worst = std::max<double>(worst, std::abs(increment[i] - 0.25F * summed[i]));
  CHECK(worst < 1e-5);
}

TEST_CASE("a step that leaves the finite numbers adds nothing, and the next one begins at the agreed parameters") {
  Own own(local_manifest(wire::OptimizerKind::sgd, 1.0));
  LocalSteps& local = own.local;
  std::vector<float> gradient = noise(own.agreed.size(), 2);
  REQUIRE(local.step(0, kSamples, gradient).ok());
  std::vector<float> broken(own.agreed.size(), std::numeric_limits<float>::quiet_NaN());
  CHECK(local.step(0, kSamples, broken).error().code == ErrorCode::corrupt);
  // A displacement of 3e38 is finite; multiplied by the samples it is not.
  std::fill(own.agreed.begin(), own.agreed.end(), 3e38F);
  CHECK(local.step(0, kSamples, gradient).error().code == ErrorCode::corrupt);
  CHECK(std::equal(own.agreed.begin(), own.agreed.end(), local.parameters().begin()));
}

TEST_CASE("buckets that step one by one, in any order, come to where all at once do, to the bit") {
  for (const wire::OptimizerKind kind : all_values<wire::OptimizerKind>()) {
    CAPTURE(word_of(kind));
    wire::RunManifest manifest = local_manifest(kind, 1e-2);
    manifest.local->optimizer.weight_decay = 0.1;
    manifest.model.width = 256;
    manifest.model.layers = 3;
    Own whole(manifest);
    manifest.local->partners = wire::GossipPartners::ring;
    Own apart(manifest);
    REQUIRE(apart.local.buckets().size() > 2);
    CHECK(apart.local.buckets_step_apart());
    CHECK(!whole.local.buckets_step_apart());
    std::vector<wire::Bucket> order(apart.local.buckets().begin(), apart.local.buckets().end());
    for (std::uint64_t step = 0; step < 3; ++step) {
      std::vector<float> gradient = noise(whole.agreed.size(), 5 + step);
      std::vector<float> by_bucket = gradient;
      REQUIRE(whole.local.step(0, kSamples, gradient).ok());
      for (const wire::Bucket& bucket : order) REQUIRE(apart.local.step_bucket(0, kSamples, bucket, by_bucket).ok());
      apart.local.end_step(kSamples);
      CHECK(gradient == by_bucket);
      CHECK(whole.state == apart.state);
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
  }
}

TEST_CASE("clipping by the whole gradient's norm waits for all of it, and buckets are told of one by one") {
  wire::RunManifest manifest = local_manifest(wire::OptimizerKind::adamw, 1e-2);
  manifest.local->optimizer.clip_norm = 1;
  manifest.model.width = 256;
  manifest.model.layers = 3;
  Own whole(manifest);
  manifest.local->partners = wire::GossipPartners::ring;
  Own apart(manifest);
  CHECK(!apart.local.buckets_step_apart());
  std::vector<float> gradient = noise(whole.agreed.size(), 5);
  std::vector<float> by_bucket = gradient;
  REQUIRE(whole.local.step(0, kSamples, gradient).ok());
  std::size_t told = 0;
  REQUIRE(apart.local.step(0, kSamples, by_bucket, [&](const wire::Bucket& bucket) { CHECK(bucket.number == told++); })
              .ok());
  CHECK(told == apart.local.buckets().size());
  CHECK(gradient == by_bucket);
  CHECK(whole.state == apart.state);
}

TEST_CASE("a bucket whose gradient is not finite ends the step, and sums go on from where they began") {
  wire::RunManifest manifest = local_manifest(wire::OptimizerKind::adamw, 1e-2);
  manifest.model.width = 256;
  manifest.model.layers = 3;
  manifest.local->partners = wire::GossipPartners::ring;
  Own own(manifest);
  std::vector<float> gradient = noise(own.agreed.size(), 5);
  gradient[own.local.buckets()[1].begin] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(own.local.step_bucket(0, kSamples, own.local.buckets()[0], gradient).ok());
  CHECK(own.local.step_bucket(0, kSamples, own.local.buckets()[1], gradient).error().code == ErrorCode::corrupt);
  CHECK(std::equal(own.agreed.begin(), own.agreed.end(), own.local.parameters().begin()));
}
