#include "tests/bench/codecs_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "client/averaging/codec.h"
#include "client/averaging/kernels.h"
#include "client/averaging/power_sgd.h"
#include "shared/swarm/sketch.h"

namespace starling::bench {
namespace {

using averaging::Codec;

double seconds_of(const std::function<void()>& work) {
  const double before = thread_cpu_seconds();
  work();
  return thread_cpu_seconds() - before;
}

// Values distributed as gradients are: most small, a few large.
std::vector<float> gradient(std::size_t size) {
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(size);
  for (float& value : values) value = 1e-3F * std::pow(normal(random), 3.0F);
  return values;
}

struct Work {
  Codec codec;
  std::size_t segment;
  std::vector<float> values;
  std::vector<float> out;
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> at;  // offset of each segment's bytes
  std::vector<float> decoded;   // one segment

  Work(Codec which, std::size_t segment_floats, const std::vector<float>& floats)
      : codec(which), segment(segment_floats), values(floats), out(floats.size()) {
    std::size_t total = 0;
    for (std::size_t begin = 0; begin < values.size(); begin += segment) {
      at.push_back(total);
      total += averaging::encoded_bytes(codec, std::min(segment, values.size() - begin));
    }
    at.push_back(total);
    bytes.resize(total);
  }

  template <typename Step>
  void each(Step step) {
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      const std::size_t begin = i * segment;
      const std::size_t count = std::min(segment, values.size() - begin);
      step(std::span<const float>(values).subspan(begin, count), std::span(bytes).subspan(at[i], at[i + 1] - at[i]),
           std::span(out).subspan(begin, count));
    }
  }
  void encode() {
    each([this](auto from, auto encoded, auto) { averaging::encode(codec, from, encoded); });
  }
  void decode() {
    each([this](auto, auto encoded, auto to) { VERIFY(averaging::decode(codec, encoded, to).ok()); });
  }
  // Checks a segment and adds it to a sum, as an owner does.
  void add() {
    each([this](auto from, auto encoded, auto to) {
      decoded.resize(from.size());
      VERIFY(averaging::square_sum(codec, encoded, from.size(), decoded).ok());
      const auto* const floats = reinterpret_cast<const std::uint8_t*>(decoded.data());
      averaging::add(codec == Codec::fp32 ? encoded : std::span(floats, from.size_bytes()), from, to);
    });
  }
};

double largest(std::span<const float> values) {
  double found = 0;
  for (const float value : values) found = std::max(found, std::abs(static_cast<double>(value)));
  return found;
}

// The documented bounds of codec.h, for one value.
double bound_of(Codec codec, double value, double block_largest, double segment_largest) {
  switch (codec) {
    case Codec::fp16:
      return std::abs(value) * 0x1p-11 + segment_largest * 0x1p-24;
    case Codec::bf16:
      return std::abs(value) * 0x1p-8 + 0x1p-134;
    case Codec::int8:
      return block_largest / 253 + 0x1p-103;
    case Codec::int4:
      return block_largest / 13.9 + 0x1p-107;
    case Codec::fp32:
    case Codec::sparse:
      break;
  }
  return 0;
}

double worst_error(Work& work) {
  const std::size_t block = work.codec == Codec::int4 ? wire::kInt4BlockFloats : wire::kInt8BlockFloats;
  double worst = 0;
  double lost = 0;
  double energy = 0;
  work.each([&](std::span<const float> from, auto, std::span<const float> back) {
    const double segment_largest = largest(from);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t begin = i / block * block;
      const double error = std::abs(static_cast<double>(from[i]) - back[i]);
      lost += error * error;
      energy += static_cast<double>(from[i]) * from[i];
      if (work.codec == Codec::sparse || error == 0) continue;
      const double block_largest = largest(from.subspan(begin, std::min(block, from.size() - begin)));
      worst = std::max(worst, error / bound_of(work.codec, from[i], block_largest, segment_largest));
    }
  });
  return work.codec == Codec::sparse ? std::sqrt(lost / energy) : worst;
}

void measure(Work& work, const CodecsOptions& options, BenchResult& result, std::vector<double>& memcpy_s) {
  std::vector<double> encode;
  std::vector<double> decode;
  std::vector<double> add;
  std::vector<double> both;
  for (int pass = 0; pass <= options.passes; ++pass) {
    const double copied = seconds_of(
        [&] { work.each([](auto from, auto, auto to) { std::memcpy(to.data(), from.data(), from.size_bytes()); }); });
    const double encoded = seconds_of([&] { work.encode(); });
    const double added = seconds_of([&] { work.add(); });
    const double decoded = seconds_of([&] { work.decode(); });
    if (pass == 0) continue;  // warm-up
    memcpy_s.push_back(copied);
    encode.push_back(encoded);
    decode.push_back(decoded);
    add.push_back(added);
    both.push_back(encoded + added);
  }
  const double gigabytes = static_cast<double>(work.values.size() * sizeof(float)) / 1e9;
  const auto figure = [&](std::string_view name) -> double& {
    return result.figures[fmt::format("{}_{}", to_string(work.codec), name)];
  };
  figure("encode_gb_s") = gigabytes / median(encode);
  figure("decode_gb_s") = gigabytes / median(decode);
  figure("add_gb_s") = gigabytes / median(add);
  figure("both_gb_s") = gigabytes / median(both);
  figure("bytes_per_float") = static_cast<double>(work.bytes.size()) / static_cast<double>(work.values.size());
  figure("worst") = worst_error(work);
}

constexpr std::int64_t kMatrixColumns = 512;

std::vector<wire::ParameterInfo> one_matrix(std::int64_t floats) {
  wire::ParameterInfo info;
  info.shape = {std::max<std::int64_t>(1, floats / kMatrixColumns), kMatrixColumns};
  info.count = static_cast<std::size_t>(info.shape[0] * info.shape[1]);
  return {info};
}

// Measures one member alone: its contribution is the average. Vectors that are too short to gain from it are skipped.
void measure_power_sgd(std::span<const float> floats, const CodecsOptions& options, BenchResult& result) {
  const wire::LowRankLayout layout = wire::low_rank_layout(one_matrix(options.floats), options.rank);
  if (layout.matrices.empty()) return;
  const std::span<const float> gradient = floats.first(layout.floats);
  averaging::PowerSgd power(layout, 1, 1);
  averaging::AveragingOutcome outcome;
  wire::RankSet alone(1);
  alone.set(0);
  outcome.contributors.push_back({0, static_cast<std::int64_t>(layout.right_floats), alone});
  std::vector<float> averaged(layout.floats);
  std::vector<double> project;
  std::vector<double> finish;
  std::vector<double> both;
  for (int pass = 0; pass <= options.passes; ++pass) {
    std::vector<float> left;
    std::vector<float> right;
    const double projected = seconds_of([&] {
      const auto first = power.project(gradient);
      left.assign(first.begin(), first.end());
      power.take_left(left);
      const auto second = power.project_back(gradient);
      right.assign(second.begin(), second.end());
    });
    const double finished = seconds_of([&] { power.finish(right, outcome, 0, gradient, averaged); });
    if (pass == 0) continue;  // warm-up
    project.push_back(projected);
    finish.push_back(finished);
    both.push_back(projected + finished);
  }
  const double gigabytes = static_cast<double>(gradient.size_bytes()) / 1e9;
  result.figures["power_sgd_project_gb_s"] = gigabytes / median(project);
  result.figures["power_sgd_finish_gb_s"] = gigabytes / median(finish);
  result.figures["power_sgd_both_gb_s"] = gigabytes / median(both);
  result.figures["power_sgd_bytes_per_float"] = static_cast<double>(sizeof(float)) *
                                                static_cast<double>(layout.left_floats + layout.right_floats) /
                                                static_cast<double>(layout.floats);
}

// Whole blocks alone, which is what both kernels are for; segments of another length end with a few more floats.
void measure_sketches(std::span<const float> floats, const CodecsOptions& options, BenchResult& result) {
  constexpr std::size_t kBlock = swarm::kSketchRowsMax * swarm::kSketchBuckets;
  const auto segment = static_cast<std::size_t>(options.segment_floats);
  Hash128 seed;
  seed.bytes.fill(7);
  std::vector<double> usual;
  std::vector<double> portable;
  for (int pass = 0; pass <= options.passes; ++pass) {
    swarm::Sketch sketch{};
    const double sketched = seconds_of([&] {
      for (std::size_t at = 0; at < floats.size(); at += segment) {
        swarm::add_to_sketch(seed, static_cast<std::int64_t>(at),
                             floats.subspan(at, std::min(segment, floats.size() - at)), sketch);
      }
    });
    float buckets[swarm::kSketchBuckets] = {};
    const double without = seconds_of([&] {
      for (std::size_t at = 0; at + kBlock <= floats.size(); at += kBlock) {
        swarm::portable_sketch_rows(seed, at / swarm::kSketchBuckets, floats.subspan(at, kBlock), buckets);
      }
    });
    VERIFY(swarm::norm(sketch) > 0 && std::isfinite(buckets[0]));
    if (pass == 0) continue;  // warm-up
    usual.push_back(sketched);
    portable.push_back(without);
  }
  const double ms_per_million = 1e9 / static_cast<double>(floats.size());
  result.figures["sketch_ms"] = median(usual) * ms_per_million;
  result.figures["sketch_portable_ms"] = median(portable) * ms_per_million;
}

}  // namespace

Result<BenchResult> run_codecs_bench(const CodecsOptions& options) {
  BenchResult result;
  result.settings = {{"floats", fmt::format("{}", options.floats)},
                     {"segment_floats", fmt::format("{}", options.segment_floats)},
                     {"passes", fmt::format("{}", options.passes)},
                     {"rank", fmt::format("{}", options.rank)}};
  const std::vector<float> floats = gradient(static_cast<std::size_t>(options.floats));
  std::vector<double> memcpy_s;
  std::vector<Codec> codecs;
  for (std::uint8_t number = 0; wire::codec_from_number(number); ++number) {
    codecs.push_back(*wire::codec_from_number(number));
    Work work(codecs.back(), static_cast<std::size_t>(options.segment_floats), floats);
    measure(work, options, result, memcpy_s);
  }
  measure_power_sgd(floats, options, result);
  measure_sketches(floats, options, result);
  const double memcpy_gb_s = static_cast<double>(floats.size() * sizeof(float)) / 1e9 / median(memcpy_s);
  result.figures["memcpy_gb_s"] = memcpy_gb_s;
  result.figures["kernels_avx2"] = averaging::avx2_kernels() != nullptr ? 1 : 0;
  for (const Codec codec : codecs) {
    const std::string name(to_string(codec));
    result.figures[name + "_vs_memcpy"] = result.figures[name + "_both_gb_s"] / memcpy_gb_s;
  }
  return result;
}

}  // namespace starling::bench
