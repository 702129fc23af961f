#include "client/training/process_setup.h"

#include <ATen/Parallel.h>
#include <malloc.h>

#include "client/models/matrix.h"

namespace starling::training {

void set_up_process(int threads) {
  constexpr int kKeepMapped = 1 << 30;  // bytes; both limits default to 128 KiB
  ::mallopt(M_MMAP_THRESHOLD, kKeepMapped);
  ::mallopt(M_TRIM_THRESHOLD, kKeepMapped);
  at::set_num_threads(threads);
  models::set_matrix_threads(threads);
  // May be set once per process, and only matters for TorchScript: one is enough for ever.
  static const bool once = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace starling::training
