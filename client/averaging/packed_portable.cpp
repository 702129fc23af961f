#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "client/averaging/block_scale.h"
#include "client/averaging/packed_kernels.h"
#include "shared/wire/codec.h"

namespace starling::averaging {
namespace {

std::uint16_t load16(const std::uint8_t* bytes) {
  std::uint16_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void bf16_encode(const float* values, std::uint8_t* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint16_t bits = bf16_from_float(values[i]);
    std::memcpy(bytes + 2 * i, &bits, sizeof bits);
  }
}

bool bf16_sound(const std::uint8_t* bytes, std::size_t size, std::uint16_t bits_max) {
  int found = 0;
  for (std::size_t i = 0; i < size; ++i) found = std::max(found, load16(bytes + 2 * i) & 0x7fff);
  return found <= bits_max;
}

void bf16_decode(const std::uint8_t* bytes, float* out, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out[i] = float_from_bf16(load16(bytes + 2 * i));
}

// Blocks: a bf16 scale, then codes, each in a byte or two to a byte.
struct Int8 {
  static constexpr std::size_t kFloats = wire::kInt8BlockFloats;
  static constexpr std::size_t kCodesPerByte = 1;
  static constexpr int kCodeMax = kInt8CodeMax;
  static void put(std::uint8_t* codes, std::size_t i, int code) { codes[i] = static_cast<std::uint8_t>(code); }
  static int get(const std::uint8_t* codes, std::size_t i) { return static_cast<std::int8_t>(codes[i]); }
};

// The first code is in the lower half of a byte; an unused half is written as code 0.
struct Int4 {
  static constexpr std::size_t kFloats = wire::kInt4BlockFloats;
  static constexpr std::size_t kCodesPerByte = 2;
  static constexpr int kCodeMax = kInt4CodeMax;
  static void put(std::uint8_t* codes, std::size_t i, int code) {
    const int half = code + kInt4Zero;
    codes[i / 2] = static_cast<std::uint8_t>(i % 2 == 0 ? kInt4Zero << 4 | half : (codes[i / 2] & 15) | half << 4);
  }
  static int get(const std::uint8_t* codes, std::size_t i) { return (codes[i / 2] >> 4 * (i % 2) & 15) - kInt4Zero; }
};

template <typename Format>
struct Blocks {
  static std::size_t code_bytes(std::size_t count) {
    return (count + Format::kCodesPerByte - 1) / Format::kCodesPerByte;
  }
  // Calls `visit` with each block's bytes, the index of its first value, and how many values it has.
  template <typename Bytes, typename Visit>
  static bool for_each(Bytes* bytes, std::size_t size, Visit visit) {
    for (std::size_t begin = 0; begin < size; begin += Format::kFloats) {
      const std::size_t count = std::min(Format::kFloats, size - begin);
      if (!visit(bytes, begin, count)) return false;
      bytes += kBlockScaleBytes + code_bytes(count);
    }
    return true;
  }

  static void encode(const float* values, std::uint8_t* bytes, std::size_t size) {
    for_each(bytes, size, [values](std::uint8_t* block, std::size_t begin, std::size_t count) {
      const auto* floats = reinterpret_cast<const std::uint8_t*>(values + begin);
      const std::uint16_t scale = block_scale(portable_kernels().largest(floats, count), Format::kCodeMax);
      const float inverse = inverse_of_scale(scale);
      std::memcpy(block, &scale, sizeof scale);
      for (std::size_t i = 0; i < count; ++i) {
        Format::put(block + kBlockScaleBytes, i, inverse == 0 ? 0 : nearest(values[begin + i] * inverse));
      }
      return true;
    });
  }

  static bool sound(const std::uint8_t* bytes, std::size_t size, std::uint16_t bits_max) {
    return for_each(bytes, size, [bits_max](const std::uint8_t* block, std::size_t /*begin*/, std::size_t count) {
      const std::uint8_t* codes = block + kBlockScaleBytes;
      int largest = 0;
      for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(Format::get(codes, i)));
      const bool padded = count % Format::kCodesPerByte == 0 || Format::get(codes, count) == 0;
      return padded && block_sound(load16(block), bits_max, largest, Format::kCodeMax);
    });
  }

  static void decode(const std::uint8_t* bytes, float* out, std::size_t size) {
    for_each(bytes, size, [out](const std::uint8_t* block, std::size_t begin, std::size_t count) {
      const float scale = float_from_bf16(load16(block));
      for (std::size_t i = 0; i < count; ++i) {
        out[begin + i] = static_cast<float>(Format::get(block + kBlockScaleBytes, i)) * scale;
      }
      return true;
    });
  }

  static PackedKernels kernels() { return {encode, sound, decode}; }
};

}  // namespace

PackedSet portable_packed() {
  return {{bf16_encode, bf16_sound, bf16_decode}, Blocks<Int8>::kernels(), Blocks<Int4>::kernels()};
}

}  // namespace starling::averaging
