#include "shared/swarm/sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "shared/base/permutation.h"

namespace starling::swarm {
namespace {

constexpr std::uint64_t kOddStep = 0x9e3779b97f4a7c15ULL;

std::uint64_t half_of(const Hash128& seed, std::size_t half) {
  std::uint64_t word = 0;
  std::memcpy(&word, seed.bytes.data() + half * sizeof(word), sizeof(word));
  return word;
}

// Adds coordinates `from` to `to` of one row.
void add_piece(const SketchRow& row, std::size_t from, std::span<const float> values, float* buckets) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t lane = from + i;
    // No branch: it would be mispredicted for every second value.
    const auto sign = static_cast<std::uint32_t>(row.signs >> lane & 1) << 31;
    buckets[lane ^ row.exchange] += std::bit_cast<float>(std::bit_cast<std::uint32_t>(values[i]) ^ sign);
  }
}

}  // namespace

SketchRow sketch_row(const Hash128& seed, std::uint64_t row) {
  const std::uint64_t place = row * kOddStep;
  return {mix64(half_of(seed, 0) ^ place), static_cast<std::uint32_t>(mix64(half_of(seed, 1) + place) >> 58)};
}

void portable_sketch_rows(const Hash128& seed, std::uint64_t row, std::span<const float> rows, float* buckets) {
  for (std::size_t at = 0; at < rows.size(); at += kSketchBuckets, ++row) {
    add_piece(sketch_row(seed, row), 0, rows.subspan(at, kSketchBuckets), buckets);
  }
}

void add_to_sketch(const Hash128& seed, std::int64_t position, std::span<const float> values, Sketch& sketch) {
  static const SketchRows add_rows = avx2_sketch_rows() != nullptr ? avx2_sketch_rows() : portable_sketch_rows;
  constexpr std::uint64_t kBlock = kSketchRowsMax * kSketchBuckets;
  for (auto at = static_cast<std::uint64_t>(position); !values.empty();) {
    float buckets[kSketchBuckets] = {};
    const std::size_t taken = std::min<std::uint64_t>(values.size(), kBlock - at % kBlock);
    std::span<const float> block = values.first(taken);
    values = values.subspan(taken);
    if (const std::size_t lane = at % kSketchBuckets; lane != 0) {
      const std::size_t piece = std::min(block.size(), kSketchBuckets - lane);
      add_piece(sketch_row(seed, at / kSketchBuckets), lane, block.first(piece), buckets);
      block = block.subspan(piece);
      at += piece;
    }
    const std::size_t whole = block.size() - block.size() % kSketchBuckets;
    add_rows(seed, at / kSketchBuckets, block.first(whole), buckets);
    at += whole;
    add_piece(sketch_row(seed, at / kSketchBuckets), 0, block.subspan(whole), buckets);
    at += block.size() - whole;
    for (std::size_t i = 0; i < kSketchBuckets; ++i) sketch[i] += static_cast<double>(buckets[i]);
  }
}

void add_scaled(Sketch& sum, const Sketch& sketch, double factor) {
  for (std::size_t i = 0; i < kSketchBuckets; ++i) sum[i] += sketch[i] * factor;
}

double norm(const Sketch& sketch) {
  double square = 0;
  for (const double bucket : sketch) square += bucket * bucket;
  return std::sqrt(square);
}

double relative_distance(const Sketch& a, const Sketch& b) {
  Sketch difference = a;
  add_scaled(difference, b, -1);
  const double distance = norm(difference);
  return distance == 0 ? 0 : distance / std::max(norm(a), norm(b));
}

}  // namespace starling::swarm
