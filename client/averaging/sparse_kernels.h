// The search of the sparse codec: sparse_portable.cpp and sparse_avx2.cpp, for the sets of kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling::averaging {

// As Kernels::select_largest.
void portable_select(const float* values, std::size_t size, std::size_t wanted, std::uint16_t* chosen);
// Only to be run where there is AVX2.
void avx2_select(const float* values, std::size_t size, std::size_t wanted, std::uint16_t* chosen);

}  // namespace starling::averaging
