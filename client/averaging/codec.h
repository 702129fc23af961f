// Encodings of floats on the wire. Sums are always fp32. Decoding checks every length and value: bytes that hold a
// non-finite or absurd value are refused, and they change no sum. Values decoded from accepted bytes encode and decode
// to themselves on every machine, so a member that passes a result on passes on identical bits.
//
//   fp32   little-endian floats
//   fp16   f32 scale (a power of two), then IEEE halves of value / scale.
//          Error: at most 2^-11 of each value's magnitude plus 2^-24 of the segment's largest
//   int8   blocks of 128 floats (the last may be shorter): bf16 scale, then codes -127 to 127; value = code x scale.
//          The largest magnitude of a block has code 127 or -127; a block that is all below 2^-103 becomes zeros.
//          Error: at most 1/253 of the block's largest magnitude, plus 2^-103
//   bf16   the upper halves of floats, rounded. Error: at most 2^-8 of each value's magnitude, plus 2^-134
//   int4   blocks of 64 floats (the last may be shorter): bf16 scale, then codes -7 to 7, two to a byte, as code + 8.
//          The largest magnitude has code 7 or -7. Error: at most 1/13.9 of the block's largest magnitude, plus 2^-107
//   sparse 64 of every 4096 values, two bits each (sparse.h). Only with error feedback, because no value has an error
//   bound:
//          the squares of all errors add up to less than those of the values, which is all that error feedback needs
#pragma once

#include <cstdint>
#include <span>

#include "shared/base/result.h"
#include "shared/wire/codec.h"

namespace starling::averaging {

using wire::Codec;
using wire::codec_from_name;
using wire::encoded_bytes;
using wire::to_string;

// Summands of larger magnitude are refused, so that no sum of kGroupMembersMax members overflows.
constexpr float kSummandMax = 0x1p100F;

// out.size() == encoded_bytes(codec, values.size()). Values that are not finite give bytes that decode() refuses.
void encode(Codec codec, std::span<const float> values, std::span<std::uint8_t> out);

// out = values. After an error `out` may hold anything.
Status decode(Codec codec, std::span<const std::uint8_t> bytes, std::span<float> out);

// Sum of the values' squares; corrupt also for magnitudes beyond kSummandMax. Except with fp32, `values` (as many
// floats as are encoded) then holds the decoded values; with fp32 it may be empty.
Result<double> square_sum(Codec codec, std::span<const std::uint8_t> bytes, std::size_t floats,
                          std::span<float> values);
double square_sum(std::span<const float> values);
// Sum of the squares of values - weight x center; of values encoded as fp32, or as they are.
double square_distance(std::span<const std::uint8_t> values, std::span<const float> center, float weight);
double square_distance(std::span<const float> values, std::span<const float> center, float weight);

// sum = base + values, encoded as fp32, which square_sum() has accepted.
void add(std::span<const std::uint8_t> values, std::span<const float> base, std::span<float> sum);

// Whether all values are finite and none is beyond kSummandMax.
bool summable(std::span<const float> values);
// values /= divisor.
void divide(std::span<float> values, float divisor);

}  // namespace starling::averaging
