// The kernels of bf16 and of blocks of integers, for the sets in kernels.h; defined in packed_portable.cpp and
// packed_avx2.cpp.
#pragma once

#include "client/averaging/kernels.h"

namespace starling::averaging {

struct PackedSet {
  PackedKernels bf16;
  PackedKernels int8;
  PackedKernels int4;
};

PackedSet portable_packed();
// Run these only where the processor has AVX2.
PackedSet avx2_packed();

}  // namespace starling::averaging
