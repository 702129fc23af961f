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

// The codecs that keep every value, within a bound.
constexpr Codec kCodecs[] = {Codec::fp32, Codec::fp16, Codec::bf16, Codec::int8, Codec::int4};
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

// Also compares them with values that are not finite, and with damaged bytes.
void check_packed_kernels(const PackedKernels& a, const PackedKernels& b, Codec codec, Floats values) {
  const std::size_t size = values.size();
  std::mt19937 random(static_cast<unsigned>(size));
  Bytes bytes_a(encoded_bytes(codec, size));
  Bytes bytes_b = bytes_a;
  a.encode(values.data(), bytes_a.data(), size);
  b.encode(values.data(), bytes_b.data(), size);
  CHECK(bytes_a == bytes_b);
  CHECK(a.sound(bytes_a.data(), size, 0x7f7f));
  CHECK(b.sound(bytes_a.data(), size, 0x7f7f));
  Floats out_a(size);
  Floats out_b(size);
  a.decode(bytes_a.data(), out_a.data(), size);
  b.decode(bytes_a.data(), out_b.data(), size);
  CHECK(same_bits(out_a, out_b));
  for (std::size_t i = 0; i < bytes_a.size(); ++i) {
    Bytes damaged = bytes_a;
    damaged[i] = static_cast<std::uint8_t>(random() % 3 == 0 ? 0x80 : random());
    if (a.sound(damaged.data(), size, 0x6e00) != b.sound(damaged.data(), size, 0x6e00)) FAIL_CHECK(i);
  }
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  if (size > 0) values[random() % size] = random() % 2 == 0 ? kNan : -kInfinity;
  a.encode(values.data(), bytes_a.data(), size);
  b.encode(values.data(), bytes_b.data(), size);
  CHECK(bytes_a == bytes_b);
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

namespace {

struct BlockCodec {
  Codec codec;
  std::size_t floats;
  int code_max;
  double relative_error;  // relative to the largest of the block
  double absolute_error;
};
constexpr BlockCodec kBlockCodecs[] = {{Codec::int8, wire::kInt8BlockFloats, 127, 1 / 253.0, 0x1p-103},
                                       {Codec::int4, wire::kInt4BlockFloats, 7, 1 / 13.9, 0x1p-107}};

}  // namespace

TEST_CASE("bf16 keeps its error bound") {
  const Floats values = random_floats(2, 20000, -149, 125);
  const Floats back = decoded(Codec::bf16, encoded(Codec::bf16, values), values.size());
  bool within = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    within = within && std::abs(back[i] - value) <= std::ldexp(std::abs(value), -8) + 0x1p-134;
  }
  CHECK(within);
}

TEST_CASE("blocks keep their error bound, whatever lies in other blocks") {
  for (const BlockCodec& format : kBlockCodecs) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
      CAPTURE(seed);
      std::mt19937 random(seed);
      Floats values;
      while (values.size() < 700) {
        const int top = static_cast<int>(random() % 240) - 140;
        const Floats block = random_floats(random(), format.floats, std::max(top - 12, -149), top);
        values.insert(values.end(), block.begin(), block.end());
      }
      values.resize(values.size() - random() % format.floats);
      const Floats back = decoded(format.codec, encoded(format.codec, values), values.size());
      bool within = true;
      for (std::size_t begin = 0; begin < values.size(); begin += format.floats) {
        const std::size_t end = std::min(begin + format.floats, values.size());
        const Floats block(&values[begin], &values[end - 1] + 1);
        const double bound = largest(block) * format.relative_error + format.absolute_error;
        for (std::size_t i = begin; i < end; ++i) within = within && std::abs(double{back[i]} - values[i]) <= bound;
      }
      CHECK(within);
    }
  }
}

TEST_CASE("a block's largest magnitude gets the largest code, wherever its scale is rounded to") {
  for (const BlockCodec& format : kBlockCodecs) {
    for (std::uint32_t step = 0; step < 1 << 16; ++step) {  // all bits that decide how the scale is rounded
      const float top = std::bit_cast<float>(0x3f800000u + (step << 7));
      const Bytes bytes = encoded(format.codec, {0.3F, -top, 0});
      const int code = format.codec == Codec::int8 ? static_cast<std::int8_t>(bytes[3]) : (bytes[2] >> 4) - 8;
      if (code != -format.code_max) FAIL_CHECK(top);
      if (encoded(format.codec, decoded(format.codec, bytes, 3)) != bytes) FAIL_CHECK(top);
    }
  }
}

TEST_CASE("blocks that no encoder writes are refused: they would not be passed on as they are") {
  const Bytes int8 = encoded(Codec::int8, {1.0F, -0.5F, 0.25F});
  const Bytes int4 = encoded(Codec::int4, {1.0F, -0.5F, 0.25F});
  Floats out(3);
  const auto refused = [&](Codec codec, Bytes bytes, std::size_t at, std::uint8_t value) {
    REQUIRE(decode(codec, bytes, out).ok());
    bytes[at] = value;
    return !decode(codec, bytes, out).ok() && !square_sum(codec, bytes, out.size(), out).ok();
  };
  CHECK(refused(Codec::int8, int8, 2, 126));                         // nothing has the largest code
  CHECK(refused(Codec::int8, int8, 3, 0x80));                        // -128
  CHECK(refused(Codec::int8, int8, 1, 0xbc));                        // a negative scale
  CHECK(refused(Codec::int8, int8, 1, 0x00));                        // a scale below all valid ones
  CHECK(refused(Codec::int8, int8, 1, 0x7f));                        // a scale that is not finite
  CHECK(refused(Codec::int4, int4, 2, 0x4e));                        // nothing has the largest code
  CHECK(refused(Codec::int4, int4, 2, 0x0f));                        // -8
  CHECK(refused(Codec::int4, int4, 3, 0x9a));                        // bits in the half that nobody reads
  CHECK_FALSE(decode(Codec::int8, Bytes{0, 0, 1, 0, 0}, out).ok());  // codes without a scale
  CHECK_FALSE(decode(Codec::int4, Bytes{0, 0, 0x98, 0x88}, out).ok());
}

TEST_CASE("the values of any bytes that are accepted encode and decode to themselves") {
  std::mt19937 random(5);
  for (const Codec codec : {Codec::fp16, Codec::bf16, Codec::int8, Codec::int4}) {
    int accepted = 0;
    for (int round = 0; round < 20000; ++round) {
      Floats values = random_floats(random(), 1 + random() % 9, -30, 30);
      Bytes bytes = encoded(codec, values);
      for (int i = 0; i < 2; ++i) bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
      if (!decode(codec, bytes, values).ok()) continue;
      ++accepted;
      if (!same_bits(decoded(codec, encoded(codec, values), values.size()), values)) FAIL_CHECK(round);
    }
    CHECK(accepted > 200);
  }
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
    Floats summands(777, kNan);
    const auto square = square_sum(codec, bytes, summands.size(), summands);
    REQUIRE(square.ok());
    CHECK(*square == square_sum(addend));
    Floats sum(777, kNan);
    add(codec == Codec::fp32 ? bytes : encoded(Codec::fp32, summands), base, sum);
    Floats in_place = base;
    add(encoded(Codec::fp32, addend), in_place, in_place);
    bool right = true;
    for (std::size_t i = 0; i < sum.size(); ++i) right = right && sum[i] == base[i] + addend[i];
    CHECK(right);
    CHECK(same_bits(sum, in_place));
  }
}

TEST_CASE("a value that is not finite is refused wherever it stands") {
  for (const Codec codec : kCodecs) {
    for (const float poison : {kNan, -kNan, kInfinity, -kInfinity}) {
      for (std::size_t at = 0; at < 70; ++at) {
        Floats values(70, 1.5F);
        Bytes bytes = encoded(codec, values);
        if (codec == Codec::fp32) std::memcpy(bytes.data() + at * 4, &poison, 4);
        if (codec == Codec::bf16) {
          bytes[at * 2] = 0x80;
          bytes[at * 2 + 1] = static_cast<std::uint8_t>(std::signbit(poison) ? 0xff : 0x7f);
        }
        // In blocks, only the scale can hold it.
        if (codec == Codec::int8) bytes[1] = std::signbit(poison) ? 0xff : 0x7f;
        if (codec == Codec::int4) bytes[at < 64 ? 1 : 35] = std::signbit(poison) ? 0xff : 0x7f;
        if (codec == Codec::fp16) bytes[4 + at * 2 + 1] = static_cast<std::uint8_t>(std::signbit(poison) ? 0xfe : 0x7c);
        Floats out(70);
        const auto square = square_sum(codec, bytes, out.size(), out);
        REQUIRE_FALSE(square.ok());
        CHECK(square.error().code == ErrorCode::corrupt);
        CHECK_FALSE(decode(codec, bytes, out).ok());
        values[at] = poison;
        CHECK_FALSE(summable(values));
        CHECK_FALSE(decode(codec, encoded(codec, values), out).ok());  // a sender's own mistake is noticed as well
      }
    }
  }
}

TEST_CASE("values that would make a sum overflow are refused as summands") {
  Floats out(3);
  const Floats fine = {kSummandMax, -kSummandMax, 1};
  const Floats absurd = {1, 0x1p103F, 1};
  CHECK(summable(fine));
  CHECK_FALSE(summable(absurd));
  for (const Codec codec : kCodecs) {
    CHECK(square_sum(codec, encoded(codec, fine), out.size(), out).ok());
    CHECK_FALSE(square_sum(codec, encoded(codec, absurd), out.size(), out).ok());
    CHECK(decode(codec, encoded(codec, absurd), out).ok());
  }
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
  for (const Codec codec : {Codec::fp32, Codec::fp16, Codec::bf16, Codec::int8, Codec::int4, Codec::sparse}) {
    Bytes bytes = encoded(codec, Floats(9, 1.0F));
    bytes.pop_back();
    CHECK_FALSE(decode(codec, bytes, out).ok());
    bytes.resize(bytes.size() + 2);
    CHECK_FALSE(decode(codec, bytes, out).ok());
    CHECK_FALSE(decode(codec, {}, out).ok());
  }
}

TEST_CASE("every processor reads every half as the same bits") {
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
    CHECK(a.from_halves(halves.data(), scale, all_halves.data(), all_halves.size()) == 0x7fff);
    CHECK(b.from_halves(halves.data(), scale, other.data(), other.size()) == 0x7fff);
    bool same = true;
    for (std::size_t i = 0; i < other.size(); ++i) {
      same = same && (std::isnan(other[i])
                          ? std::isnan(all_halves[i])
                          : std::bit_cast<std::uint32_t>(other[i]) == std::bit_cast<std::uint32_t>(all_halves[i]));
    }
    CHECK(same);
  }
}

TEST_CASE("every processor computes the same bits") {
  if (avx2_kernels() == nullptr) {
    MESSAGE("no AVX2 here: only the portable kernels can run");
    return;
  }
  const Kernels& a = portable_kernels();
  const Kernels& b = *avx2_kernels();
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const std::size_t size = random() % 400;
    Floats values(size);
    for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    CHECK(a.largest(bytes, size) == b.largest(bytes, size));
    const std::size_t place = random() % 20;  // position in a cache line, or across its end
    Floats expected(place + size + 1, 1.0F);
    std::copy(values.begin(), values.end(), expected.begin() + static_cast<std::ptrdiff_t>(place));
    for (const Kernels* each : {&a, &b}) {
      Floats copied(expected.size(), 1.0F);
      CHECK(each->copy(bytes, copied.data() + place, size) == a.largest(bytes, size));
      CHECK(same_bits(copied, expected));
    }
    values = random_floats(static_cast<unsigned>(round), size, -140, 100);
    bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    Bytes half_a(2 * size);
    Bytes half_b(2 * size);
    const float factor = std::ldexp(1.0F, static_cast<int>(random() % 250) - 126);
    a.to_halves(values.data(), factor, half_a.data(), size);
    b.to_halves(values.data(), factor, half_b.data(), size);
    CHECK(half_a == half_b);
    Floats copied_a(size);
    Floats copied_b(size);
    CHECK(a.from_halves(half_a.data(), 1, copied_a.data(), size) ==
          b.from_halves(half_a.data(), 1, copied_b.data(), size));
    const Floats base = random_floats(static_cast<unsigned>(round) + 1000, size, -140, 100);
    Floats sum_a(size);
    Floats sum_b(size);
    a.add(bytes, base.data(), sum_a.data(), size);
    b.add(bytes, base.data(), sum_b.data(), size);
    CHECK(same_bits(sum_a, sum_b));
    CHECK(a.square_sum(bytes, size) == b.square_sum(bytes, size));
    CHECK(a.square_distance(bytes, base.data(), factor, size) == b.square_distance(bytes, base.data(), factor, size));
    check_packed_kernels(a.bf16, b.bf16, Codec::bf16, values);
    check_packed_kernels(a.int8, b.int8, Codec::int8, values);
    check_packed_kernels(a.int4, b.int4, Codec::int4, values);
    CHECK(std::bit_cast<std::uint32_t>(a.dot(values.data(), base.data(), size)) ==
          std::bit_cast<std::uint32_t>(b.dot(values.data(), base.data(), size)));
    a.add_scaled(values.data(), 0.3F, sum_a.data(), size);
    b.add_scaled(values.data(), 0.3F, sum_b.data(), size);
    CHECK(same_bits(sum_a, sum_b));
    a.divide(sum_a.data(), 97.0F, size);
    b.divide(sum_b.data(), 97.0F, size);
    CHECK(same_bits(sum_a, sum_b));
  }
}

TEST_CASE("codecs have names") {
  CHECK(codec_from_name("fp32").value() == Codec::fp32);
  for (std::uint8_t number = 0; number < 6; ++number) {
    const auto codec = wire::codec_from_number(number);
    REQUIRE(codec.has_value());
    CHECK(codec_from_name(to_string(*codec)).value() == *codec);
    CHECK(wire::codec_names().find(to_string(*codec)) != std::string::npos);
    CHECK(encoded_bytes(*codec, 0) <= 4);
  }
  CHECK_FALSE(wire::codec_from_number(6).has_value());
  const auto unknown = codec_from_name("zip");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::unsupported);
}
