// Choices that hold for a whole trainer process.
#pragma once

namespace starling::training {

// Threads of LibTorch and of the matrix library (one pool serves both), and an allocator that keeps freed
// tensors mapped: a batch asks for the same megabytes again and again.
void set_up_process(int threads);

}  // namespace starling::training
