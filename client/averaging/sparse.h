// The sparse codec: the 64 values of largest magnitude (the first of equal ones) in every chunk of 4096, each as a sign
// and one of two magnitudes, whichever is nearer. The two magnitudes are the chunk's own, chosen so that the sum of the
// squared errors is least. All other values are left out, for error feedback to make up for. 0.23 bits a value.
// Source: SparseLoCo (arXiv 2508.15706): its chunks, 12-bit indices and 2-bit values.
//
//   chunk   bf16 lower and upper magnitude, 12-bit indices (ascending), 2-bit values (1: negative, 2: upper);
//           both bit streams begin with the lowest bit of a byte of their own. A shorter last chunk of n values holds
//           ceil(n / 64).
#pragma once

#include <cstdint>
#include <span>

namespace starling::averaging {

// out.size() == encoded_bytes(Codec::sparse, values.size()).
void sparse_encode(std::span<const float> values, std::span<std::uint8_t> out);
// Whether magnitudes are at most the bf16 of these bits, and indices are in order and in range.
bool sparse_sound(std::span<const std::uint8_t> bytes, std::size_t floats, std::uint16_t bits_max);
// sum += the values of sound bytes.
void sparse_add(std::span<const std::uint8_t> bytes, std::span<float> sum);

}  // namespace starling::averaging
