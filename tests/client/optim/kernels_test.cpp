#include "client/optim/kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/base/permutation.h"

using namespace starling;
using namespace starling::optim;

namespace {

// Of very different sizes, as gradients are.
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

wire::RunManifest odd_sizes(const std::string& kind) {
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
  for (const char* kind : {"sgd", "adamw"}) {
    CAPTURE(kind);
    wire::RunManifest manifest = odd_sizes(kind);
    CHECK(same_bits(state_after(manifest, 12, portable_kernels()), state_after(manifest, 12, *avx2_kernels())));
    manifest.optimizer.momentum = 0;
    CHECK(same_bits(state_after(manifest, 3, portable_kernels()), state_after(manifest, 3, *avx2_kernels())));
  }
  for (const std::size_t size : {0, 1, 7, 8, 9, 1000, 1003}) {
    const std::vector<float> values = noise(size, size);
    const double portable = portable_kernels().squared_norm(values.data(), size);
    const double wide = avx2_kernels()->squared_norm(values.data(), size);
    CHECK(std::memcmp(&portable, &wide, sizeof portable) == 0);
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
