// The sparse codec: of every chunk of 4096 values the 64 of largest magnitude (of ties the first), each as a sign and
// one of two magnitudes, whichever is nearer; the two are the chunk's own, chosen so that the squares of the errors
// are least. Everything else is left out, for error feedback to make up for. 0.23 bits a value.
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
// Whether magnitudes are at most the bf16 of these bits and indices in order and in range.
bool sparse_sound(std::span<const std::uint8_t> bytes, std::size_t floats, std::uint16_t bits_max);
// sum += values, of sound bytes.
void sparse_add(std::span<const std::uint8_t> bytes, std::span<float> sum);

}  // namespace starling::averaging
