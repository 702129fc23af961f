// Settings of a whole trainer process.
#pragma once

#include "shared/run/number_forms.h"

namespace starling::training {

// Sets the threads of LibTorch and of the matrix library (they share one pool), an allocator that keeps freed tensors
// mapped, because every batch needs memory of equal sizes, and that no product is computed in TF32 unless `precision`
// is that.
void set_up_process(int threads, wire::Precision precision = wire::Precision::fp32);

// Computes a little of everything with as many threads. A library that opens files at its first use does that here, and
// one that starts threads or takes buffers, for which pthreadpool and OpenBLAS wait for ever where memory is used up.
void warm_up(int threads);

}  // namespace starling::training
