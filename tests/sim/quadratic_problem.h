// A training problem whose gradients can be named: sample p wants the parameters at target(p), so the gradient of a set
// of samples is the sum of (x - target), and the optimum is the mean of all targets (0).
#pragma once

#include <cstdint>
#include <span>

#include "shared/base/permutation.h"
#include "shared/run/training_data.h"

namespace starling::sim {

constexpr std::int64_t kSampleSpace = 1 << 20;
constexpr int kLanes = 4096;
constexpr SampleCount kMicroBatch = 2;
constexpr double kHeldOutLoss = 1;  // the figure of every honest measurement
constexpr float kStart = 3;         // every parameter at round 0; the optimum is at 0

// Uniform in [-1, 1), from the sample and the coordinate alone.
inline float target(std::uint64_t sample, std::size_t coordinate) {
  const std::uint64_t hash = mix64(sample * 0x100000001b3ULL + coordinate);
  return static_cast<float>(static_cast<std::int64_t>(hash >> 40) - (1 << 23)) / static_cast<float>(1 << 23);
}

// True if no gradient of the sample is finite: for `share` of all places of an epoch, equal in every epoch.
inline bool is_unusable(std::uint64_t seed, double share, std::int64_t place) {
  const std::uint64_t hash = mix64(seed ^ mix64(static_cast<std::uint64_t>(place)));
  return static_cast<double>(hash >> 11) * 0x1.0p-53 < share;
}

// Adds the summed gradient of `samples` at `parameters` into `gradient`.
inline void add_gradient(const wire::SampleRange& samples, std::uint64_t seed, std::span<const float> parameters,
                         std::span<float> gradient) {
  const SeededPermutation order = wire::round_permutation(seed, samples.round, kSampleSpace);
  const bool leased = samples.epoch != wire::kNoEpoch;
  for (SampleCount k = samples.first; k < samples.first + samples.count; ++k) {
    const std::uint64_t sample =
        leased ? static_cast<std::uint64_t>(k) : order.at(wire::sample_position(samples.lane, k, kLanes, kSampleSpace));
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += parameters[i] - target(sample, i);
  }
}

}  // namespace starling::sim
