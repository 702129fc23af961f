#include "client/training/process_setup.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <malloc.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "client/models/matrix.h"

namespace starling::training {

void set_up_process(int threads, wire::Precision precision) {
  // Both in bytes; both limits default to 128 KiB. The first may not exceed half an arena's size.
  constexpr int kMappedFrom = 32 << 20;
  constexpr int kKeptFree = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kMappedFrom);
  ::mallopt(M_TRIM_THRESHOLD, kKeptFree);
  static int threads_set = 0;
  if (std::exchange(threads_set, threads) != threads) {  // it starts threads, and would do so each time
    at::set_num_threads(threads);
    models::set_matrix_threads(threads);
  }
  // "fp32" means it: LibTorch would let cuDNN's convolutions round their operands to TF32, a thousandth off, on cards
  // that have it. A run whose precision is bf16 computes the products that bear it in bf16, and only those.
  const bool rounds_operands = precision == wire::Precision::tf32;
  at::globalContext().setAllowTF32CuDNN(rounds_operands);
  at::globalContext().setAllowTF32CuBLAS(rounds_operands);
  // May be set only once per process, and matters only for TorchScript: one thread is always enough.
  static const bool once = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  static_cast<void>(once);
}

void warm_up(int threads) {
  constexpr int kSide = 128;
  set_up_process(threads);
  const auto ones = [](at::IntArrayRef shape) { return at::ones(shape).requires_grad_(true); };
  const at::Tensor matrix = ones({kSide, kSide});
  const at::Tensor sum = at::log_softmax(at::matmul(matrix, matrix), 1).sum() +
                         at::conv2d(ones({2, 3, 16, 16}), ones({4, 3, 3, 3})).tanh().sum();
  sum.backward();
  (void)at::rand({1});  // the default generator takes its seed from a file
  const std::vector<float> factor(std::size_t{kSide} * kSide, 1);
  std::vector<float> product(factor.size());
  const models::Matrix square{factor.data(), kSide, kSide, kSide};
  models::multiply(square, square, product.data(), kSide);
}

}  // namespace starling::training
