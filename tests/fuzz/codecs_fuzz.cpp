// Every codec's decoder, on any bytes: accepted values are finite, have the sum of squares that is told of them, can be
// added, and encode again to equal values.
#include "client/averaging/codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

using namespace starling;
using namespace starling::averaging;

namespace {

constexpr float kBefore = 0.75F;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

void check_stable(Codec codec, const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(encoded_bytes(codec, values.size()));
  encode(codec, values, bytes);
  std::vector<float> again(values.size());
  VERIFY(decode(codec, bytes, again).ok());
  VERIFY(same_bits(again, values));
}

void check(Codec codec, std::span<const std::uint8_t> bytes, std::size_t floats) {
  std::vector<float> values(floats);
  const bool decoded = decode(codec, bytes, values).ok();
  VERIFY(!decoded || all_finite(values));
  if (decoded) check_stable(codec, values);
  std::vector<float> summands(codec == Codec::fp32 ? 0 : floats);
  const Result<double> square = square_sum(codec, bytes, floats, summands);
  if (!square.ok()) return;
  VERIFY(decoded && summable(values) && *square == square_sum(values));
  VERIFY(codec == Codec::fp32 || same_bits(summands, values));
  std::vector<float> sum(floats, kBefore);
  add(std::span(reinterpret_cast<const std::uint8_t*>(values.data()), floats * sizeof(float)), sum, sum);
  for (std::size_t i = 0; i < floats; ++i) VERIFY(sum[i] == kBefore + values[i]);
}

// Encodes any floats, finite or not: a decoder refuses them or returns values near enough to encode equally.
void check_encoder(Codec codec, std::span<const std::uint8_t> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  std::vector<std::uint8_t> encoded(encoded_bytes(codec, values.size()));
  encode(codec, values, encoded);
  check(codec, encoded, values.size());
}

}  // namespace

// The first byte selects the codec and the action, the next two the number of floats that the rest should be.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto codec = wire::codec_from_number(data[0] % 8);
  if (!codec) return 0;
  const std::span<const std::uint8_t> bytes(data + 3, size - 3);
  if (data[0] >= 128) {
    check_encoder(*codec, bytes);
  } else {
    check(*codec, bytes, std::min<std::size_t>(data[1] + 256u * data[2], 10000));
  }
  return 0;
}
