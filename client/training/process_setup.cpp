#include "client/training/process_setup.h"

#include <ATen/Parallel.h>
#include <malloc.h>

#include "client/models/matrix.h"

namespace starling::training {

void set_up_process(int threads) {
  // Both in bytes; both limits default to 128 KiB. The first may not exceed half an arena's size.
  constexpr int kMappedFrom = 32 << 20;
  constexpr int kKeptFree = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kMappedFrom);
  ::mallopt(M_TRIM_THRESHOLD, kKeptFree);
  at::set_num_threads(threads);
  models::set_matrix_threads(threads);
  // May be set only once per process, and matters only for TorchScript: one thread is always enough.
  static const bool once = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace starling::training
