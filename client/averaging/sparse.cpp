#include "client/averaging/sparse.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "client/averaging/block_scale.h"
#include "client/averaging/kernels.h"
#include "shared/wire/codec.h"

namespace starling::averaging {
namespace {

using wire::kSparseChunkFloats;

constexpr std::size_t kValuesMax = wire::sparse_values(kSparseChunkFloats);
constexpr unsigned kIndexBits = 12;
constexpr unsigned kValueBits = 2;
constexpr unsigned kNegative = 1;
constexpr unsigned kUpper = 2;
static_assert(kSparseChunkFloats == 1 << kIndexBits);

using Indices = std::array<std::uint16_t, kValuesMax>;

// Writes bits one after another, from the lowest bit of the first byte on.
class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* out) : out_(out) {}
  void put(unsigned value, unsigned bits) {
    held_ |= std::uint64_t{value} << count_;
    count_ += bits;
    if (count_ < kWordBits) return;
    write(kWordBits / 8);
    held_ >>= kWordBits;
    count_ -= kWordBits;
  }
  void finish() { write((count_ + 7) / 8); }

 private:
  static constexpr unsigned kWordBits = 32;
  void write(std::size_t bytes) {
    std::memcpy(out_, &held_, bytes);
    out_ += bytes;
  }

  std::uint8_t* out_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

class BitReader {
 public:
  explicit BitReader(const std::uint8_t* in) : in_(in) {}
  unsigned take(unsigned bits) {
    for (; count_ < bits; count_ += 8) held_ |= static_cast<unsigned>(*in_++) << count_;
    const unsigned value = held_ & ((1u << bits) - 1);
    held_ >>= bits;
    count_ -= bits;
    return value;
  }

 private:
  const std::uint8_t* in_;
  unsigned held_ = 0;
  unsigned count_ = 0;
};

// Where the parts of an encoded chunk lie.
struct Layout {
  explicit Layout(std::size_t floats)
      : values(wire::sparse_values(floats)), codes_at(kIndicesAt + (values * kIndexBits + 7) / 8) {}
  static constexpr std::size_t kIndicesAt = 2 * sizeof(std::uint16_t);
  std::size_t values;
  std::size_t codes_at;
};

// Calls `visit` with each chunk's first value, its length and its bytes.
template <typename Bytes, typename Visit>
bool for_each_chunk(Bytes* bytes, std::size_t floats, Visit visit) {
  for (std::size_t begin = 0; begin < floats; begin += kSparseChunkFloats) {
    const std::size_t count = std::min(kSparseChunkFloats, floats - begin);
    if (!visit(begin, count, bytes)) return false;
    bytes += wire::sparse_chunk_bytes(count);
  }
  return true;
}

struct Levels {
  std::uint16_t lower = 0;
  std::uint16_t upper = 0;
};

// 1 / n for each number of values that may be sent.
constexpr std::array<double, kValuesMax + 1> inverses() {
  std::array<double, kValuesMax + 1> values{};
  for (std::size_t n = 1; n < values.size(); ++n) values[n] = 1.0 / static_cast<double>(n);
  return values;
}
constexpr std::array<double, kValuesMax + 1> kInverse = inverses();

// The best two levels: of all ways to cut the sorted magnitudes in two, the one whose means leave the least error.
Levels choose_levels(std::span<const float> magnitudes) {
  if (!std::isfinite(magnitudes.back())) return {kNoScale, kNoScale};
  double total = 0;
  for (const float magnitude : magnitudes) total += magnitude;
  double best = -1;
  double best_below = 0;
  std::size_t best_cut = 0;
  double below = 0;
  for (std::size_t cut = 0; cut < magnitudes.size(); ++cut) {
    const double rest = total - below;
    const double explained = below * below * kInverse[cut] + rest * rest * kInverse[magnitudes.size() - cut];
    if (explained > best) {
      best = explained;
      best_below = below;
      best_cut = cut;
    }
    below += magnitudes[cut];
  }
  const double upper = (total - best_below) * kInverse[magnitudes.size() - best_cut];
  const double lower = best_cut == 0 ? upper : best_below * kInverse[best_cut];
  return {bf16_from_float(static_cast<float>(lower)), bf16_from_float(static_cast<float>(upper))};
}

// Sorts in ascending order. Every magnitude is compared with every other: for this few, that is faster than branching.
void sort_small(std::array<float, kValuesMax>& magnitudes, std::size_t count) {
  std::array<std::int32_t, kValuesMax> bits{};
  std::array<std::int32_t, kValuesMax> smaller{};
  std::array<std::uint8_t, kValuesMax> placed{};
  for (std::size_t i = 0; i < count; ++i) bits[i] = std::bit_cast<std::int32_t>(magnitudes[i]);
  for (std::size_t j = 0; j < count; ++j) {
    const std::int32_t other = bits[j];
    for (std::size_t i = 0; i < kValuesMax; ++i) smaller[i] += other < bits[i] ? 1 : 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto rank = static_cast<std::size_t>(smaller[i]);
    magnitudes[rank + placed[rank]++] = std::bit_cast<float>(bits[i]);
  }
}

void encode_chunk(std::span<const float> values, std::uint8_t* out) {
  const Layout layout(values.size());
  const std::size_t count = layout.values;
  Indices chosen;
  kernels().select_largest(values.data(), values.size(), count, chosen.data());
  std::array<float, kValuesMax> magnitudes{};
  // NaN has no place in an order: values that are not finite count as infinity, and are refused as such.
  for (std::size_t i = 0; i < count; ++i) {
    const float value = values[chosen[i]];
    magnitudes[i] = std::isfinite(value) ? std::abs(value) : INFINITY;
  }
  sort_small(magnitudes, count);
  const Levels levels = choose_levels(std::span(magnitudes).first(count));
  std::memcpy(out, &levels.lower, sizeof levels.lower);
  std::memcpy(out + sizeof levels.lower, &levels.upper, sizeof levels.upper);
  const double middle = (double{float_from_bf16(levels.lower)} + float_from_bf16(levels.upper)) / 2;
  BitWriter indices(out + Layout::kIndicesAt);
  BitWriter codes(out + layout.codes_at);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = values[chosen[i]];
    indices.put(chosen[i], kIndexBits);
    codes.put((std::signbit(value) ? kNegative : 0) | (std::abs(value) > middle ? kUpper : 0), kValueBits);
  }
  indices.finish();
  codes.finish();
}

std::uint16_t level(const std::uint8_t* chunk, std::size_t index) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, chunk + index * sizeof bits, sizeof bits);
  return bits;
}

bool chunk_sound(const std::uint8_t* chunk, std::size_t floats, std::uint16_t bits_max) {
  if (level(chunk, 0) > level(chunk, 1) || level(chunk, 1) > bits_max) return false;
  const Layout layout(floats);
  BitReader indices(chunk + Layout::kIndicesAt);
  std::size_t least = 0;  // the next index must be at least this
  for (std::size_t i = 0; i < layout.values; ++i) {
    const std::size_t index = indices.take(kIndexBits);
    if (index < least || index >= floats) return false;
    least = index + 1;
  }
  return true;
}

void add_chunk(const std::uint8_t* chunk, std::span<float> sum) {
  const Layout layout(sum.size());
  const float lower = float_from_bf16(level(chunk, 0));
  const float upper = float_from_bf16(level(chunk, 1));
  const std::array<float, 4> values = {lower, -lower, upper, -upper};
  BitReader indices(chunk + Layout::kIndicesAt);
  BitReader codes(chunk + layout.codes_at);
  for (std::size_t i = 0; i < layout.values; ++i) sum[indices.take(kIndexBits)] += values[codes.take(kValueBits)];
}

}  // namespace

void sparse_encode(std::span<const float> values, std::span<std::uint8_t> out) {
  for_each_chunk(out.data(), values.size(), [values](std::size_t begin, std::size_t count, std::uint8_t* chunk) {
    encode_chunk(values.subspan(begin, count), chunk);
    return true;
  });
}

bool sparse_sound(std::span<const std::uint8_t> bytes, std::size_t floats, std::uint16_t bits_max) {
  return for_each_chunk(bytes.data(), floats,
                        [bits_max](std::size_t /*begin*/, std::size_t count, const std::uint8_t* chunk) {
                          return chunk_sound(chunk, count, bits_max);
                        });
}

void sparse_add(std::span<const std::uint8_t> bytes, std::span<float> sum) {
  for_each_chunk(bytes.data(), sum.size(), [sum](std::size_t begin, std::size_t count, const std::uint8_t* chunk) {
    add_chunk(chunk, sum.subspan(begin, count));
    return true;
  });
}

}  // namespace starling::averaging
