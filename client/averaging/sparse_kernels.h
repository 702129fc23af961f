// The search of the sparse codec, for the sets in kernels.h; defined in sparse_portable.cpp and sparse_avx2.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling::averaging {

// See Kernels::select_largest.
void portable_select(const float* values, std::size_t size, std::size_t wanted, std::uint16_t* chosen);
// Run it only where the processor has AVX2.
void avx2_select(const float* values, std::size_t size, std::size_t wanted, std::uint16_t* chosen);

}  // namespace starling::averaging
