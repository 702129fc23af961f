#include "client/optim/kernels.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/base/permutation.h"
#include "shared/base/words.h"

using namespace starling;
using namespace starling::optim;

namespace {

// Values of very different sizes, as gradients have.
std::vector<float> noise(std::uint64_t seed, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto unit = static_cast<float>(static_cast<double>(mix64(mix64(seed) + i) >> 11) * 0x1p-53 - 0.5);
    values[i] = unit * unit * unit;
  }
  return values;
}

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> all = {&portable_kernels()};
  if (avx2_kernels() != nullptr) all.push_back(avx2_kernels());
  return all;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The state after some steps from noise, on a layout of tensors of odd sizes.
std::vector<float> state_after(const wire::RunManifest& manifest, RoundIndex rounds, const Kernels& kernels) {
  const Optimizer optimizer(manifest, kernels);
  std::vector<float> state = noise(1, optimizer.state_size());
  for (std::size_t i = optimizer.parameter_count(); i < state.size(); ++i) state[i] = 0;
  const auto journal = std::make_unique<StepJournal>();
  for (RoundIndex round = 0; round < rounds; ++round) {
    const std::vector<float> gradient = noise(2 + static_cast<std::uint64_t>(round), optimizer.parameter_count());
    REQUIRE(optimizer.step(round, gradient, state, *journal).ok());
  }
  return state;
}

wire::RunManifest odd_sizes(wire::OptimizerKind kind) {
  wire::RunManifest manifest;
  manifest.model = {.layers = 1, .width = 27, .heads = 3, .context = 13};
  manifest.optimizer = wire::default_optimizer(kind);
  manifest.schedule.warmup_rounds = 3;
  return manifest;
}

}  // namespace

TEST_CASE("every processor computes the same bits, with every optimizer") {
  if (avx2_kernels() == nullptr) {
    MESSAGE("no AVX2 here: only the portable kernels can run");
    return;
  }
  for (const wire::OptimizerKind kind : all_values<wire::OptimizerKind>()) {
    CAPTURE(word_of(kind));
    wire::RunManifest manifest = odd_sizes(kind);
    manifest.optimizer.window_rounds = 5;
    CHECK(same_bits(state_after(manifest, 12, portable_kernels()), state_after(manifest, 12, *avx2_kernels())));
    manifest.optimizer.momentum = 0;
    CHECK(same_bits(state_after(manifest, 3, portable_kernels()), state_after(manifest, 3, *avx2_kernels())));
    manifest = odd_sizes(kind);
    manifest.moments = wire::MomentForm::fp8;
    CHECK(same_bits(state_after(manifest, 12, portable_kernels()), state_after(manifest, 12, *avx2_kernels())));
  }
  for (const std::size_t size : {0, 1, 7, 8, 9, 1000, 1003}) {
    const std::vector<float> values = noise(size, size);
    const double portable = portable_kernels().squared_norm(values.data(), size);
    const double wide = avx2_kernels()->squared_norm(values.data(), size);
    CHECK(std::bit_cast<std::uint64_t>(portable) == std::bit_cast<std::uint64_t>(wide));
  }
}

TEST_CASE("the squared norm is finite exactly when every value is") {
  for (const Kernels* kernels : all_kernels()) {
    std::vector<float> values(1003, std::numeric_limits<float>::max());
    CHECK(std::isfinite(kernels->squared_norm(values.data(), values.size())));
    for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      for (const std::size_t place : {std::size_t{0}, std::size_t{500}, values.size() - 1}) {
        std::vector<float> spoiled = values;
        spoiled[place] = bad;
        CHECK(!std::isfinite(kernels->squared_norm(spoiled.data(), spoiled.size())));
      }
    }
  }
}

TEST_CASE("twelve steps give the same bits with every compiler, option and processor, with every optimizer") {
  const std::map<wire::OptimizerKind, std::uint64_t> expected = {
      {wire::OptimizerKind::sgd, 12784182552517273097ULL},
      {wire::OptimizerKind::adamw, 14142987180391118433ULL},
      {wire::OptimizerKind::lamb, 5452370845864130381ULL},
      {wire::OptimizerKind::muon, 9115339644494909958ULL},
      {wire::OptimizerKind::accum_adamw, 10995749313357641156ULL}};
  for (const wire::OptimizerKind kind : all_values<wire::OptimizerKind>()) {
    CAPTURE(word_of(kind));
    wire::RunManifest manifest = odd_sizes(kind);
    manifest.optimizer.window_rounds = 5;
    std::uint64_t hash = 0;
    for (const float value : state_after(manifest, 12, kernels()))
      hash = mix64(hash ^ std::bit_cast<std::uint32_t>(value));
    CHECK(hash == expected.at(kind));
  }
}

TEST_CASE("every element of a matrix product is one sum, from the first term to the last") {
  struct Sizes {
    std::size_t rows, inner, columns;
  };
  for (const Sizes s : {Sizes{1, 1, 1}, Sizes{4, 256, 16}, Sizes{7, 300, 33}, Sizes{5, 513, 15}, Sizes{12, 3, 48}}) {
    const std::vector<float> a = noise(1, s.rows * s.inner), b = noise(2, s.inner * s.columns);
    std::vector<float> expected(s.rows * s.columns);
    for (std::size_t row = 0; row < s.rows; ++row) {
      for (std::size_t column = 0; column < s.columns; ++column) {
        float& sum = expected[row * s.columns + column];
        for (std::size_t k = 0; k < s.inner; ++k) sum += a[row * s.inner + k] * b[k * s.columns + column];
      }
    }
    for (const Kernels* kernels : all_kernels()) {
      std::vector<float> out(expected.size(), 7);
      kernels->multiply({a.data(), b.data(), out.data(), s.rows, s.inner, s.columns});
      CHECK(same_bits(out, expected));
    }
  }
}
