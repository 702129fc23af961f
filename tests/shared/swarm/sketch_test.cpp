#include "shared/swarm/sketch.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "shared/swarm/random_stream.h"

using namespace starling;
using namespace starling::swarm;

namespace {

Hash128 seed(std::uint8_t number) {
  Hash128 seed;
  seed.bytes.fill(number);
  seed.bytes[3] = 200;
  return seed;
}

// Heavy-tailed, as gradients are.
std::vector<float> gradient(std::size_t size, std::uint64_t number) {
  RandomStream random(number);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(std::pow(random.uniform() * 2 - 1, 5) * 1e-3);
  return values;
}

Sketch sketch_of(const Hash128& seed, std::span<const float> values, std::int64_t position = 0) {
  Sketch sketch{};
  add_to_sketch(seed, position, values, sketch);
  return sketch;
}

double norm_of(std::span<const float> values) {
  double square = 0;
  for (const float value : values) square += double{value} * value;
  return std::sqrt(square);
}

}  // namespace

TEST_CASE("a sketch tells a vector's norm within a fifth, as a rule") {
  const std::vector<float> values = gradient(100'000, 1);
  int near = 0;
  double squares = 0;
  constexpr int kSeeds = 100;
  for (std::uint8_t i = 0; i < kSeeds; ++i) {
    const double ratio = norm(sketch_of(seed(i), values)) / norm_of(values);
    CHECK(ratio > 0.6);
    CHECK(ratio < 1.4);
    near += ratio > 0.8 && ratio < 1.2 ? 1 : 0;
    squares += ratio * ratio;
  }
  CHECK(near > 85);  // the norm's standard deviation is 9 %, half of its square's
  CHECK(squares / kSeeds == doctest::Approx(1).epsilon(0.06));
}

TEST_CASE("sketches of pieces, wherever the vector is cut, add up to that of the whole") {
  const std::vector<float> values = gradient(10'000, 2);
  const Sketch whole = sketch_of(seed(7), values);
  for (const std::size_t cut : {1, 63, 64, 65, 4095, 4096, 4097, 9999}) {
    CAPTURE(cut);
    Sketch sum = sketch_of(seed(7), std::span(values).first(cut));
    add_to_sketch(seed(7), static_cast<std::int64_t>(cut), std::span(values).subspan(cut), sum);
    CHECK(relative_distance(whole, sum) < 1e-6);
  }
  // A piece elsewhere in the vector is another vector.
  CHECK(relative_distance(sketch_of(seed(7), values), sketch_of(seed(7), values, 64)) > 0.5);
}

TEST_CASE("sketches are linear") {
  const std::vector<float> a = gradient(5000, 3);
  const std::vector<float> b = gradient(5000, 4);
  std::vector<float> mixed(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) mixed[i] = 3 * a[i] - 0.5F * b[i];
  Sketch sum{};
  add_scaled(sum, sketch_of(seed(1), a), 3);
  add_scaled(sum, sketch_of(seed(1), b), -0.5);
  CHECK(relative_distance(sum, sketch_of(seed(1), mixed)) < 1e-6);
}

TEST_CASE("rows are added to the same bits with AVX2 and without") {
  if (avx2_sketch_rows() == nullptr) {
    MESSAGE("skipped: this processor has no AVX2");
    return;
  }
  const std::vector<float> values = gradient(kSketchRowsMax * kSketchBuckets, 5);
  for (std::uint64_t row = 0; row < 200; row += 40) {
    float portable[kSketchBuckets] = {};
    float vectored[kSketchBuckets] = {};
    portable_sketch_rows(seed(9), row, values, portable);
    avx2_sketch_rows()(seed(9), row, values, vectored);
    for (std::size_t i = 0; i < kSketchBuckets; ++i) {
      CAPTURE(i);
      CHECK(portable[i] == vectored[i]);
    }
  }
}

TEST_CASE("honest differences and false ones are told apart, whatever their shape") {
  const std::vector<float> honest = gradient(2048, 6);
  RandomStream random(8);
  std::vector<float> rounded = honest;
  for (float& value : rounded) value *= 1 + 6e-7F * static_cast<float>(2 * random.uniform() - 1);
  std::vector<float> dense = honest;
  for (float& value : dense)
    value += static_cast<float>(0.01 * norm_of(honest) / std::sqrt(2048.0)) * (random.uniform() < 0.5 ? -1.F : 1.F);
  std::vector<float> single = honest;
  single[77] += static_cast<float>(0.01 * norm_of(honest));
  std::vector<float> lazy = honest;
  for (std::size_t i = 0; i < lazy.size(); i += 3) lazy[i] = 0;
  for (std::uint8_t i = 0; i < 24; ++i) {
    CAPTURE(i);
    const Sketch truth = sketch_of(seed(i), honest);
    CHECK(relative_distance(truth, sketch_of(seed(i), rounded)) < 1e-6);
    CHECK(relative_distance(truth, sketch_of(seed(i), dense)) > 5e-3);
    CHECK(relative_distance(truth, sketch_of(seed(i), dense)) < 2e-2);
    CHECK(relative_distance(truth, sketch_of(seed(i), single)) > 5e-3);
    CHECK(relative_distance(truth, sketch_of(seed(i), lazy)) > 0.2);
  }
}

TEST_CASE("a vector made to vanish in one seed's sketch shows in another's") {
  const std::vector<float> honest = gradient(4096, 9);
  // Two coordinates that meet in a bucket of the known seed, so that they cancel out.
  const Hash128 known = seed(1);
  const SketchRow first = sketch_row(known, 0);
  const SketchRow second = sketch_row(known, 1);
  const std::size_t a = 5;
  const std::size_t b = 5 ^ first.exchange ^ second.exchange;
  const bool equal_signs = (first.signs >> a & 1) == (second.signs >> b & 1);
  std::vector<float> poisoned = honest;
  const auto size = static_cast<float>(0.5 * norm_of(honest));
  poisoned[a] += size;
  poisoned[64 + b] += equal_signs ? -size : size;
  CHECK(relative_distance(sketch_of(known, honest), sketch_of(known, poisoned)) < 1e-6);
  int seen = 0;
  for (std::uint8_t i = 2; i < 66; ++i) {
    seen += relative_distance(sketch_of(seed(i), honest), sketch_of(seed(i), poisoned)) > 0.3 ? 1 : 0;
  }
  CHECK(seen >= 60);  // the two meet again with probability 1/64, and cancel out with half of that
}

TEST_CASE("what is not finite stays visible") {
  std::vector<float> values(300, 1);
  values[123] = std::nanf("");
  CHECK_FALSE(std::isfinite(norm(sketch_of(seed(1), values))));
}

TEST_CASE("zeros have no distance") { CHECK(relative_distance(Sketch{}, Sketch{}) == 0); }
