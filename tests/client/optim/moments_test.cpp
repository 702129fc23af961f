#include "shared/run/moments.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/base/permutation.h"
#include "shared/base/words.h"

using namespace starling;
using namespace starling::optim;

namespace {

float noise(std::uint64_t seed, std::size_t i) {
  return static_cast<float>(static_cast<double>(mix64(mix64(seed) + i) >> 11) * 0x1p-53 - 0.5);
}

wire::RunManifest small_manifest(wire::OptimizerKind kind, wire::MomentForm moments) {
  wire::RunManifest manifest;
  manifest.model = {.layers = 1, .width = 27, .heads = 3, .context = 13};  // no tensor ends where a block does
  manifest.optimizer = wire::default_optimizer(kind);
  manifest.optimizer.window_rounds = 4;
  manifest.schedule.warmup_rounds = 3;
  manifest.moments = moments;
  return manifest;
}

// The state after gradients some of which are zero, and whose sizes span this many powers of ten within every block.
std::vector<float> state_after(RoundIndex rounds, const wire::RunManifest& manifest, float powers) {
  const Optimizer optimizer(manifest);
  std::vector<float> state(optimizer.state_size());
  for (std::size_t i = 0; i < optimizer.parameter_count(); ++i) state[i] = noise(1, i);
  const auto journal = std::make_unique<StepJournal>();
  std::vector<float> gradient(optimizer.parameter_count());
  for (RoundIndex round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const float size = std::pow(10.0F, powers * noise(2, i));
      gradient[i] = i % 7 == 0 ? 0 : size * noise(3 + static_cast<std::uint64_t>(round), i);
    }
    REQUIRE(optimizer.step(round, gradient, state, *journal).ok());
  }
  return state;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

constexpr std::size_t kBlocks = 1000;

// A block's number of values, rounded as a first or second moment (vector 1 or 2).
std::vector<float> rounded(wire::MomentForm form, std::size_t vector, std::vector<float> values) {
  kernels().round_moments({wire::narrow_floats(form, vector), 17, 0}, values.data(), values.size());
  return values;
}

}  // namespace

TEST_CASE("who joins has the members' state to the bit, however it is cut, with every optimizer") {
  for (const wire::MomentForm moments : {wire::MomentForm::fp16, wire::MomentForm::fp8}) {
    for (const wire::OptimizerKind kind : all_values<wire::OptimizerKind>()) {
      CAPTURE(word_of(moments));
      CAPTURE(word_of(kind));
      const wire::RunManifest manifest = small_manifest(kind, moments);
      const wire::StateForm form = wire::state_form(manifest);
      const std::vector<float> state = state_after(9, manifest, 10);
      for (const std::size_t cut : {state.size(), std::size_t{1}, std::size_t{64}, std::size_t{1000}}) {
        CAPTURE(cut);
        std::vector<float> arrived(state.size());
        for (std::size_t first = 0; first < state.size(); first += cut) {
          const std::size_t count = std::min(cut, state.size() - first);
          const auto bytes = wire::encode_state(form, first, std::span(state).subspan(first, count));
          CHECK(bytes.size() == wire::state_bytes(form, first, count));
          REQUIRE(wire::decode_state(form, first, bytes, std::span(arrived).subspan(first, count)).ok());
        }
        CHECK(same_bits(arrived, state));
      }
    }
  }
}

TEST_CASE("a state of AdamW takes two thirds of its bytes with moments of 16 bits, and half of them with 8") {
  constexpr std::size_t kParameters = 1 << 20;
  const auto share = [](wire::MomentForm moments) {
    const std::size_t floats = 3 * kParameters;
    return static_cast<double>(wire::state_bytes({kParameters, moments}, 0, floats)) /
           static_cast<double>(floats * sizeof(float));
  };
  CHECK(share(wire::MomentForm::fp32) == 1);
  CHECK(share(wire::MomentForm::fp16) == doctest::Approx(2.0 / 3).epsilon(0.01));
  CHECK(share(wire::MomentForm::fp8) == doctest::Approx(1.0 / 2).epsilon(0.01));
}

TEST_CASE("a piece of a state with other bytes than its floats take is refused") {
  const wire::StateForm form{100, wire::MomentForm::fp8};
  std::vector<float> floats(200);
  std::vector<std::uint8_t> bytes = wire::encode_state(form, 50, floats);
  CHECK(wire::decode_state(form, 50, bytes, floats).ok());
  bytes.push_back(0);
  CHECK(wire::decode_state(form, 50, bytes, floats).error().code == ErrorCode::corrupt);
  CHECK(wire::decode_state(form, 50, {}, floats).error().code == ErrorCode::corrupt);
}

TEST_CASE("whatever arrives in place of a state makes numbers that a digest can judge") {
  const wire::StateForm form{10, wire::MomentForm::fp8};
  std::vector<float> floats(30);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::vector<std::uint8_t> bytes(wire::state_bytes(form, 0, floats.size()));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(mix64(seed * 1000 + i));
    CHECK(wire::decode_state(form, 0, bytes, floats).ok());
  }
}

TEST_CASE("rounding changes nothing twice, and is right in the mean") {
  for (const wire::MomentForm form : {wire::MomentForm::fp16, wire::MomentForm::fp8}) {
    for (const std::size_t vector : {1, 2}) {
      CAPTURE(vector);
      constexpr float kValue = 0.7123F;
      const std::vector<float> once =
          rounded(form, vector, std::vector<float>(kBlocks * wire::kMomentBlockFloats, kValue));
      CHECK(same_bits(rounded(form, vector, once), once));
      double sum = 0, farthest = 0;
      for (const float value : once) {
        sum += value;
        farthest = std::max(farthest, std::abs(static_cast<double>(value) - kValue));
      }
      // A mantissa is between 0.5 and 1 here.
      const double step = std::ldexp(0.5, -wire::narrow_floats(form, vector).mantissa_bits);
      CHECK(farthest < step);
      CHECK(std::abs(sum / static_cast<double>(once.size()) - kValue) < 0.01 * step);  // 64 000 values
    }
  }
}

TEST_CASE("what is far below the rest of its block is nothing, but a second moment stays above zero") {
  std::vector<float> values(wire::kMomentBlockFloats, 0.0F);
  values[3] = 1;
  values[5] = 1e-30F;
  const std::vector<float> first = rounded(wire::MomentForm::fp8, 1, values);
  CHECK(first[3] == 1);
  CHECK(first[5] == 0);
  const std::vector<float> second = rounded(wire::MomentForm::fp8, 2, values);
  CHECK(second[3] == 1);
  CHECK(second[4] == 0);
  CHECK(second[5] == std::ldexp(1.0F, 1 - wire::narrow_floats(wire::MomentForm::fp8, 2).exponents));
}

TEST_CASE("narrow moments follow a gradient that becomes ten times smaller") {
  for (const wire::MomentForm moments : {wire::MomentForm::fp16, wire::MomentForm::fp8}) {
    CAPTURE(word_of(moments));
    const wire::RunManifest manifest = small_manifest(wire::OptimizerKind::adamw, moments);
    const Optimizer optimizer(manifest);
    const std::size_t n = optimizer.parameter_count();
    std::vector<float> state(optimizer.state_size());
    const auto journal = std::make_unique<StepJournal>();
    const float length = 1 / std::sqrt(static_cast<float>(n));  // short enough not to be clipped
    for (RoundIndex round = 0; round < 1500; ++round) {
      REQUIRE(optimizer.step(round, std::vector<float>(n, round < 500 ? length : length / 10), state, *journal).ok());
    }
    double second = 0;
    for (std::size_t i = 2 * n; i < 3 * n; ++i) second += state[i];
    CHECK(second / static_cast<double>(n) == doctest::Approx(0.01 * length * length).epsilon(0.05));
  }
}

TEST_CASE("a hundred steps of AdamW lead to where those with whole moments do") {
  const auto way = [](const std::vector<float>& from, const std::vector<float>& to, std::size_t n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::pow(static_cast<double>(to[i]) - from[i], 2);
    return std::sqrt(sum);
  };
  const std::vector<float> begin =
      state_after(0, small_manifest(wire::OptimizerKind::adamw, wire::MomentForm::fp32), 2);
  const std::vector<float> exact =
      state_after(100, small_manifest(wire::OptimizerKind::adamw, wire::MomentForm::fp32), 2);
  const std::size_t n = begin.size() / 3;
  const double exact_way = way(begin, exact, n);
  const auto apart = [&](wire::MomentForm moments) {
    return way(state_after(100, small_manifest(wire::OptimizerKind::adamw, moments), 2), exact, n) / exact_way;
  };
  CAPTURE(apart(wire::MomentForm::fp16));
  CAPTURE(apart(wire::MomentForm::fp8));
  CHECK(apart(wire::MomentForm::fp16) < 0.01);
  CHECK(apart(wire::MomentForm::fp8) < 0.2);
}
