// The kernels of bf16 and of blocks of integers: packed_portable.cpp and packed_avx2.cpp, for the sets of kernels.h.
#pragma once

#include "client/averaging/kernels.h"

namespace starling::averaging {

struct PackedSet {
  PackedKernels bf16;
  PackedKernels int8;
  PackedKernels int4;
};

PackedSet portable_packed();
// Only to be run where there is AVX2.
PackedSet avx2_packed();

}  // namespace starling::averaging
