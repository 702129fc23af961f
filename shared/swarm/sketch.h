// Count-sketches: 64 numbers that stand for a vector of any length, by which computers that do not have each other's
// vectors compare them. A sketch is linear: sketches of slices, of samples or of members add up to the sketch of the
// sum. The length of the difference of two sketches is that of the vectors' difference, give or take 18 % (the standard
// deviation is sqrt(2 / 64)), for every vector that was fixed before the seed was drawn. With the seed known, one can
// choose a vector with a sketch of zeros, so a seed is told when the vectors cannot change any more.
//
// The vector is cut into rows of 64 coordinates. Each row adds to the 64 buckets once: its coordinates change places by
// a drawn exclusive or, and each gets a drawn sign. So coordinates of one row never meet in a bucket, and those of two
// rows meet with probability 1/64, as in a sketch with a drawn bucket for each coordinate.
//
// Sums are formed in one order, without fused operations, so that all processors agree to the bit on equal vectors cut
// in equal pieces.
//
// Source: Charikar, Chen and Farach-Colton, "Finding frequent items in data streams" (ICALP 2002); its use as a test of
// what others computed follows Gorbunov et al. (BTARD, arXiv 2106.11257). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/hash.h"

namespace starling::swarm {

constexpr std::size_t kSketchBuckets = 64;
using Sketch = std::array<double, kSketchBuckets>;

// Adds the sketch of the vector that holds `values` from the coordinate `position` on, and zeros elsewhere. Values that
// are not finite give a sketch that is not.
void add_to_sketch(const Hash128& seed, std::int64_t position, std::span<const float> values, Sketch& sketch);

// sum += sketch * factor
void add_scaled(Sketch& sum, const Sketch& sketch, double factor);

// The Euclidean norm of the sketched vector, estimated.
double norm(const Sketch& sketch);

// The estimated norm of the difference of the sketched vectors, over that of the larger one; 0 for two zeros.
double relative_distance(const Sketch& a, const Sketch& b);

// How the numbers of one row are dealt to the buckets: bucket l ^ exchange gets coordinate l, negated if its bit of
// `signs` is set.
struct SketchRow {
  std::uint64_t signs = 0;
  std::uint32_t exchange = 0;  // 0 … 63
};
SketchRow sketch_row(const Hash128& seed, std::uint64_t row);

// Adds whole rows to the buckets, from this row on; kSketchRowsMax at most, so that single precision is enough.
constexpr std::size_t kSketchRowsMax = 64;
using SketchRows = void (*)(const Hash128& seed, std::uint64_t row, std::span<const float> rows, float* buckets);
void portable_sketch_rows(const Hash128& seed, std::uint64_t row, std::span<const float> rows, float* buckets);
// With AVX2; null where the processor does not have it.
SketchRows avx2_sketch_rows();

}  // namespace starling::swarm
