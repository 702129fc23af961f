// Settings of a whole trainer process.
#pragma once

namespace starling::training {

// Sets the threads of LibTorch and of the matrix library (they share one pool), and an allocator that keeps freed
// tensors mapped, because every batch needs memory of equal sizes.
void set_up_process(int threads);

// Computes a little of everything with as many threads: a library that opens files at its first use does that here.
void warm_up(int threads);

}  // namespace starling::training
