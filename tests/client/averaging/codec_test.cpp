#include "client/averaging/codec.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "client/averaging/kernels.h"

using namespace starling;
using namespace starling::averaging;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

// Magnitudes over many powers of two, signs, zeros and subnormals.
Floats random_floats(unsigned seed, std::size_t size, int exponent_min, int exponent_max) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> exponent(exponent_min, exponent_max);
  std::uniform_real_distribution<float> mantissa(-2, 2);
  Floats values(size);
  for (float& value : values) value = random() % 17 == 0 ? 0.0F : std::ldexp(mantissa(random), exponent(random));
  return values;
}

Bytes encoded(Codec codec, const Floats& values) {
  Bytes bytes(encoded_bytes(codec, values.size()));
  encode(codec, values, bytes);
  return bytes;
}

Floats decoded(Codec codec, const Bytes& bytes, std::size_t size) {
  Floats values(size);
  const Status status = decode(codec, bytes, values);
  REQUIRE_MESSAGE(status.ok(), status.error().message);
  return values;
}

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

float largest(const Floats& values) {
  float found = 0;
  for (const float value : values) found = std::max(found, std::abs(value));
  return found;
}

}  // namespace

TEST_CASE("fp32 carries every finite value exactly") {
  for (const std::size_t size : {0u, 1u, 7u, 31u, 32u, 33u, 1000u}) {
    const Floats values = random_floats(1, size, -140, 120);
    CHECK(same_bits(decoded(Codec::fp32, encoded(Codec::fp32, values), size), values));
  }
}

TEST_CASE("fp16 keeps its error bound at every scale") {
  for (const int top : {-148, -130, -112, -100, -20, 0, 14, 15, 60, 98}) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      CAPTURE(top);
      CAPTURE(seed);
      const Floats values = random_floats(seed, 517, std::max(top - 40, -149), top);
      const Floats back = decoded(Codec::fp16, encoded(Codec::fp16, values), values.size());
      const double top_error = std::ldexp(static_cast<double>(largest(values)), -24);
      bool within = true;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = values[i];
        within = within && std::abs(back[i] - value) <= std::ldexp(std::abs(value), -11) + top_error;
      }
      CHECK(within);
    }
  }
}

TEST_CASE("encoding decoded fp16 values again gives the same bytes") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int top = static_cast<int>(random() % 230) - 130;
    Floats values = random_floats(seed, 1 + random() % 300, std::max(top - 30, -149), top);
    if (seed % 2 == 0) values[0] = std::ldexp(1.99999F, top);  // rounds up to the next power of two
    const Bytes bytes = encoded(Codec::fp16, values);
    CHECK(encoded(Codec::fp16, decoded(Codec::fp16, bytes, values.size())) == bytes);
  }
}

TEST_CASE("a segment of zeros stays one") {
  const Floats zeros(40, 0.0F);
  CHECK(decoded(Codec::fp16, encoded(Codec::fp16, zeros), 40) == zeros);
}

TEST_CASE("adding adds what was encoded to what was there") {
  for (const Codec codec : {Codec::fp32, Codec::fp16}) {
    const Floats values = random_floats(3, 777, -10, 10);
    const Floats base = random_floats(4, 777, -10, 10);
    const Bytes bytes = encoded(codec, values);
    const Floats addend = decoded(codec, bytes, values.size());
    Floats sum(777, kNan);
    CHECK(decode_add(codec, bytes, base, sum).ok());
    Floats in_place = base;
    CHECK(decode_add(codec, bytes, in_place, in_place).ok());
    bool right = true;
    for (std::size_t i = 0; i < sum.size(); ++i) right = right && sum[i] == base[i] + addend[i];
    CHECK(right);
    CHECK(same_bits(sum, in_place));
  }
}

TEST_CASE("a value that is not finite is refused wherever it stands, and the sum is untouched") {
  for (const Codec codec : {Codec::fp32, Codec::fp16}) {
    for (const float poison : {kNan, -kNan, kInfinity, -kInfinity}) {
      for (std::size_t at = 0; at < 70; ++at) {
        Floats values(70, 1.5F);
        Bytes bytes = encoded(codec, values);
        if (codec == Codec::fp32) std::memcpy(bytes.data() + at * 4, &poison, 4);
        if (codec == Codec::fp16) bytes[4 + at * 2 + 1] = static_cast<std::uint8_t>(std::signbit(poison) ? 0xfe : 0x7c);
        Floats sum(70, 2.0F);
        const Status added = decode_add(codec, bytes, sum, sum);
        CHECK(sum == Floats(70, 2.0F));
        const Status read = decode(codec, bytes, sum);
        CHECK(sum == Floats(70, 2.0F));
        REQUIRE_FALSE(added.ok());
        CHECK(added.error().code == ErrorCode::corrupt);
        CHECK_FALSE(read.ok());
        values[at] = poison;
        CHECK_FALSE(summable(values));
        CHECK_FALSE(decode(codec, encoded(codec, values), sum).ok());  // a sender's own mistake is seen as well
      }
    }
  }
}

TEST_CASE("values that would make a sum overflow are refused as summands") {
  Floats sum(3, 0.0F);
  const Floats fine = {kSummandMax, -kSummandMax, 1};
  const Floats absurd = {1, 0x1p101F, 1};
  CHECK(decode_add(Codec::fp32, encoded(Codec::fp32, fine), sum, sum).ok());
  CHECK(summable(fine));
  CHECK_FALSE(decode_add(Codec::fp32, encoded(Codec::fp32, absurd), sum, sum).ok());
  CHECK_FALSE(summable(absurd));
  CHECK(decode_add(Codec::fp16, encoded(Codec::fp16, fine), sum, sum).ok());
  CHECK_FALSE(
      decode_add(Codec::fp16, encoded(Codec::fp16, {0x1p103F}), std::span(sum).first(1), std::span(sum).first(1)).ok());
}

TEST_CASE("a scale that no encoder writes is refused") {
  Bytes bytes = encoded(Codec::fp16, {1, 2, 3});
  Floats out(3);
  for (const float scale : {0.0F, -1.0F, 3.0F, 1e-40F, 0x1p120F, kNan, kInfinity}) {
    std::memcpy(bytes.data(), &scale, 4);
    CHECK_FALSE(decode(Codec::fp16, bytes, out).ok());
  }
}

TEST_CASE("a wrong length is refused") {
  Floats out(9);
  for (const Codec codec : {Codec::fp32, Codec::fp16}) {
    Bytes bytes = encoded(codec, Floats(9, 1.0F));
    bytes.pop_back();
    CHECK_FALSE(decode(codec, bytes, out).ok());
    bytes.resize(bytes.size() + 2);
    CHECK_FALSE(decode(codec, bytes, out).ok());
    CHECK_FALSE(decode(codec, {}, out).ok());
  }
}

TEST_CASE("every processor computes the same bits") {
  if (avx2_kernels() == nullptr) {
    MESSAGE("no AVX2 here: only the portable kernels can run");
    return;
  }
  const Kernels& a = portable_kernels();
  const Kernels& b = *avx2_kernels();
  Floats all_halves(65536);
  Bytes halves(2 * 65536);
  for (std::size_t i = 0; i < 65536; ++i) {
    halves[2 * i] = static_cast<std::uint8_t>(i);
    halves[2 * i + 1] = static_cast<std::uint8_t>(i >> 8);
  }
  Floats other(65536);
  for (const float scale : {1.0F, 0x1p-126F, 0x1p111F}) {
    a.from_halves(halves.data(), scale, all_halves.data(), all_halves.size());
    b.from_halves(halves.data(), scale, other.data(), other.size());
    bool same = true;
    for (std::size_t i = 0; i < other.size(); ++i) {
      same = same && (std::isnan(other[i])
                          ? std::isnan(all_halves[i])
                          : std::bit_cast<std::uint32_t>(other[i]) == std::bit_cast<std::uint32_t>(all_halves[i]));
    }
    CHECK(same);
  }
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const std::size_t size = random() % 200;
    Floats values(size);
    for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    CHECK(a.largest(bytes, size) == b.largest(bytes, size));
    values = random_floats(static_cast<unsigned>(round), size, -140, 100);
    bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    Bytes half_a(2 * size);
    Bytes half_b(2 * size);
    const float factor = std::ldexp(1.0F, static_cast<int>(random() % 250) - 126);
    a.to_halves(values.data(), factor, half_a.data(), size);
    b.to_halves(values.data(), factor, half_b.data(), size);
    CHECK(half_a == half_b);
    CHECK(a.halves_finite(half_a.data(), size) == b.halves_finite(half_a.data(), size));
    const Floats base = random_floats(static_cast<unsigned>(round) + 1000, size, -140, 100);
    Floats sum_a(size);
    Floats sum_b(size);
    a.add(bytes, base.data(), sum_a.data(), size);
    b.add(bytes, base.data(), sum_b.data(), size);
    CHECK(same_bits(sum_a, sum_b));
    if (a.halves_finite(half_a.data(), size)) {
      a.add_halves(half_a.data(), 0x1p-3F, base.data(), sum_a.data(), size);
      b.add_halves(half_a.data(), 0x1p-3F, base.data(), sum_b.data(), size);
      CHECK(same_bits(sum_a, sum_b));
    }
    a.divide(sum_a.data(), 97.0F, size);
    b.divide(sum_b.data(), 97.0F, size);
    CHECK(same_bits(sum_a, sum_b));
  }
}

TEST_CASE("codecs have names") {
  CHECK(codec_from_name("fp32").value() == Codec::fp32);
  CHECK(codec_from_name(to_string(Codec::fp16)).value() == Codec::fp16);
  const auto unknown = codec_from_name("zip");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::unsupported);
}
