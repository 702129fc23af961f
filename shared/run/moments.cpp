#include "shared/run/moments.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "shared/run/model_layout.h"

namespace starling::wire {
namespace {

constexpr int kFloatMantissaBits = 23;
constexpr std::uint32_t kFloatSign = 1U << 31;
constexpr std::size_t kSecondMoments = 2;  // the vector

// Floats that lie in one vector and, if they are moments, in one block.
struct Stretch {
  std::size_t vector = 0;
  std::size_t begin = 0;  // among the floats that travel
  std::size_t count = 0;
};

template <typename Body>
void each_stretch(const StateForm& form, std::size_t first, std::size_t floats, const Body& body) {
  if (form.moments == MomentForm::fp32) return body(Stretch{0, 0, floats});
  for (std::size_t begin = 0; begin < floats;) {
    const std::size_t vector = (first + begin) / form.parameters;
    const std::size_t within = (first + begin) % form.parameters;
    const std::size_t block_end = (within / kMomentBlockFloats + 1) * kMomentBlockFloats;
    const std::size_t end = vector == 0 ? form.parameters : std::min(form.parameters, block_end);
    const std::size_t count = std::min(floats - begin, end - within);
    body(Stretch{vector, begin, count});
    begin += count;
  }
}

// Bytes of a stretch: a block has its exponent in front.
std::size_t bytes_of(const StateForm& form, const Stretch& stretch) {
  return stretch.count * narrow_floats(form.moments, stretch.vector).bytes + (stretch.vector == 0 ? 0 : 1);
}

// The code of a value is 0 for zero, else how far its exponent and mantissa, read as one number, lie above this.
std::uint32_t below_all(const NarrowFloats& narrow, int exponent) {
  return static_cast<std::uint32_t>((exponent - narrow.exponents + 1) * (1 << narrow.mantissa_bits) - 1);
}

std::uint32_t sign_of_code(const NarrowFloats& narrow) {
  return narrow.is_signed ? std::uint32_t{1} << (8 * narrow.bytes - 1) : 0;
}

void encode_block(const NarrowFloats& narrow, std::span<const float> block, std::uint8_t* out) {
  std::uint32_t largest = 0;
  for (const float value : block) largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & ~kFloatSign);
  const std::uint32_t exponent = largest >> kFloatMantissaBits;
  const std::uint32_t below = below_all(narrow, static_cast<int>(exponent));
  *out++ = static_cast<std::uint8_t>(exponent);
  for (const float value : block) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & ~kFloatSign;
    std::uint32_t code = magnitude == 0 ? 0 : (magnitude >> (kFloatMantissaBits - narrow.mantissa_bits)) - below;
    if ((bits & kFloatSign) != 0) code |= sign_of_code(narrow);
    for (std::size_t i = 0; i < narrow.bytes; ++i) *out++ = static_cast<std::uint8_t>(code >> (8 * i));
  }
}

void decode_block(const NarrowFloats& narrow, const std::uint8_t* bytes, std::span<float> block) {
  const std::uint32_t below = below_all(narrow, *bytes++);
  const std::uint32_t sign = sign_of_code(narrow);
  for (float& value : block) {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < narrow.bytes; ++i) code |= static_cast<std::uint32_t>(*bytes++) << (8 * i);
    const std::uint32_t distance = code & ~sign;
    std::uint32_t bits = distance == 0 ? 0 : (distance + below) << (kFloatMantissaBits - narrow.mantissa_bits);
    if ((code & sign) != 0) bits |= kFloatSign;
    value = std::bit_cast<float>(bits);
  }
}

}  // namespace

NarrowFloats narrow_floats(MomentForm form, std::size_t vector) {
  if (vector == 0 || form == MomentForm::fp32) return {};
  const bool is_signed = vector != kSecondMoments;
  const int more = is_signed ? 0 : 1;  // a bit that no sign needs
  return form == MomentForm::fp16 ? NarrowFloats{10 + more, 31, is_signed, 2}
                                  : NarrowFloats{3 + more, 15, is_signed, 1};
}

StateForm state_form(const RunManifest& manifest) { return {parameter_count(manifest.model), manifest.moments}; }

std::size_t state_bytes(const StateForm& form, std::size_t first, std::size_t floats) {
  std::size_t bytes = 0;
  each_stretch(form, first, floats, [&](const Stretch& stretch) { bytes += bytes_of(form, stretch); });
  return bytes;
}

std::vector<std::uint8_t> encode_state(const StateForm& form, std::size_t first, std::span<const float> floats) {
  std::vector<std::uint8_t> bytes(state_bytes(form, first, floats.size()));
  std::uint8_t* out = bytes.data();
  each_stretch(form, first, floats.size(), [&](const Stretch& stretch) {
    const std::span<const float> part = floats.subspan(stretch.begin, stretch.count);
    if (stretch.vector == 0) {
      std::memcpy(out, part.data(), part.size_bytes());
    } else {
      encode_block(narrow_floats(form.moments, stretch.vector), part, out);
    }
    out += bytes_of(form, stretch);
  });
  return bytes;
}

Status decode_state(const StateForm& form, std::size_t first, std::span<const std::uint8_t> bytes,
                    std::span<float> floats) {
  if (bytes.size() != state_bytes(form, first, floats.size())) {
    return Error{ErrorCode::corrupt, "a piece of a state does not have the bytes of its floats"};
  }
  const std::uint8_t* from = bytes.data();
  each_stretch(form, first, floats.size(), [&](const Stretch& stretch) {
    const std::span<float> part = floats.subspan(stretch.begin, stretch.count);
    if (stretch.vector == 0) {
      std::memcpy(part.data(), from, part.size_bytes());
    } else {
      decode_block(narrow_floats(form.moments, stretch.vector), from, part);
    }
    from += bytes_of(form, stretch);
  });
  return {};
}

}  // namespace starling::wire
