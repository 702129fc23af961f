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

constexpr Codec kCodecs[] = {Codec::fp32, Codec::fp16, Codec::int8};
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

// Also with values that are not finite, and with damaged blocks.
void check_int8_kernels(const Kernels& a, const Kernels& b, Floats values, const Floats& base) {
  const std::size_t size = values.size();
  std::mt19937 random(static_cast<unsigned>(size));
  Bytes blocks_a(encoded_bytes(Codec::int8, size));
  Bytes blocks_b = blocks_a;
  a.to_int8(values.data(), blocks_a.data(), size);
  b.to_int8(values.data(), blocks_b.data(), size);
  CHECK(blocks_a == blocks_b);
  CHECK(a.int8_sound(blocks_a.data(), size, 0x7c01));
  CHECK(b.int8_sound(blocks_a.data(), size, 0x7c01));
  Floats out_a(size);
  Floats out_b(size);
  a.from_int8(blocks_a.data(), out_a.data(), size);
  b.from_int8(blocks_a.data(), out_b.data(), size);
  CHECK(same_bits(out_a, out_b));
  a.add_int8(blocks_a.data(), base.data(), out_a.data(), size);
  b.add_int8(blocks_a.data(), base.data(), out_b.data(), size);
  CHECK(same_bits(out_a, out_b));
  for (std::size_t i = 0; i < blocks_a.size(); ++i) {
    Bytes damaged = blocks_a;
    damaged[i] = static_cast<std::uint8_t>(random() % 3 == 0 ? 0x80 : random());
    CHECK(a.int8_sound(damaged.data(), size, 0x6e00) == b.int8_sound(damaged.data(), size, 0x6e00));
  }
  if (size == 0) return;
  values[random() % size] = random() % 2 == 0 ? kNan : -kInfinity;
  a.to_int8(values.data(), blocks_a.data(), size);
  b.to_int8(values.data(), blocks_b.data(), size);
  CHECK(blocks_a == blocks_b);
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

TEST_CASE("int8 keeps its error bound in every block, whatever lies in the others") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Floats values;
    while (values.size() < 700) {
      const int top = static_cast<int>(random() % 240) - 140;
      const Floats block = random_floats(random(), wire::kInt8BlockFloats, std::max(top - 12, -149), top);
      values.insert(values.end(), block.begin(), block.end());
    }
    values.resize(values.size() - random() % wire::kInt8BlockFloats);
    const Floats back = decoded(Codec::int8, encoded(Codec::int8, values), values.size());
    bool within = true;
    for (std::size_t begin = 0; begin < values.size(); begin += wire::kInt8BlockFloats) {
      const std::size_t end = std::min(begin + wire::kInt8BlockFloats, values.size());
      const double bound = largest({values.begin() + begin, values.begin() + end}) / 253.0 + 0x1p-103;
      for (std::size_t i = begin; i < end; ++i) within = within && std::abs(double{back[i]} - values[i]) <= bound;
    }
    CHECK(within);
  }
}

TEST_CASE("a block's largest magnitude gets the largest code, wherever its scale is rounded to") {
  for (std::uint32_t step = 0; step < 1 << 16; ++step) {  // all that decides how the scale is rounded
    const float top = std::bit_cast<float>(0x3f800000u + (step << 7));
    const Bytes bytes = encoded(Codec::int8, {0.3F, -top, 0});
    if (static_cast<std::int8_t>(bytes[3]) != -127) FAIL_CHECK(top);
    if (encoded(Codec::int8, decoded(Codec::int8, bytes, 3)) != bytes) FAIL_CHECK(top);
  }
}

TEST_CASE("int8 bytes that no encoder writes are refused: they would not be passed on as they are") {
  const Bytes good = encoded(Codec::int8, {1.0F, -0.5F, 0.25F});
  Floats out(3, 7.0F);
  REQUIRE(decode(Codec::int8, good, out).ok());
  const auto refused = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = good;
    bytes[at] = value;
    std::fill(out.begin(), out.end(), 7.0F);
    return !decode(Codec::int8, bytes, out).ok() && !decode_add(Codec::int8, bytes, out, out).ok() &&
           out == Floats(3, 7.0F);
  };
  CHECK(refused(2, 126));   // nothing has the largest code
  CHECK(refused(3, 0x80));  // -128
  CHECK(refused(1, 0xbc));  // a negative scale
  CHECK(refused(1, 0x00));  // a scale below all
  CHECK(refused(1, 0x7f));  // one that is not finite
  const Bytes scaled_nothing = {0, 0, 1, 0, 0};
  CHECK_FALSE(decode(Codec::int8, scaled_nothing, out).ok());
}

TEST_CASE("any bytes that are accepted are what their values encode to") {
  std::mt19937 random(5);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes = encoded(Codec::int8, random_floats(random(), 1 + random() % 9, -30, 30));
    for (int i = 0; i < 2; ++i) bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    Floats out(bytes.size() - 2);
    if (!decode(Codec::int8, bytes, out).ok()) continue;
    ++accepted;
    if (encoded(Codec::int8, out) != bytes) FAIL_CHECK(round);
  }
  CHECK(accepted > 1000);
}

TEST_CASE("encoding decoded values again gives the same bytes") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int top = static_cast<int>(random() % 230) - 130;
    Floats values = random_floats(seed, 1 + random() % 300, std::max(top - 30, -149), top);
    if (seed % 2 == 0) values[0] = std::ldexp(1.99999F, top);  // rounds up to the next power of two
    for (const Codec codec : kCodecs) {
      const Bytes bytes = encoded(codec, values);
      CHECK(encoded(codec, decoded(codec, bytes, values.size())) == bytes);
    }
  }
}

TEST_CASE("a segment of zeros stays one") {
  const Floats zeros(40, 0.0F);
  for (const Codec codec : kCodecs) CHECK(decoded(codec, encoded(codec, zeros), 40) == zeros);
}

TEST_CASE("adding adds what was encoded to what was there") {
  for (const Codec codec : kCodecs) {
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
  for (const Codec codec : kCodecs) {
    for (const float poison : {kNan, -kNan, kInfinity, -kInfinity}) {
      for (std::size_t at = 0; at < 70; ++at) {
        Floats values(70, 1.5F);
        Bytes bytes = encoded(codec, values);
        if (codec == Codec::fp32) std::memcpy(bytes.data() + at * 4, &poison, 4);
        if (codec == Codec::int8) bytes[1] = std::signbit(poison) ? 0xff : 0x7f;  // its only place is the scale
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
  for (const Codec codec : kCodecs) {
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
    const std::size_t size = random() % 400;
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
    check_int8_kernels(a, b, values, base);
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
