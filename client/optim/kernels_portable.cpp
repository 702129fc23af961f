#include "client/optim/kernel_loops.h"
#include "client/optim/kernels.h"

namespace starling::optim {

const Kernels& portable_kernels() { return kLoops; }

const Kernels& kernels() {
  const Kernels* avx2 = avx2_kernels();
  return avx2 != nullptr ? *avx2 : kLoops;
}

}  // namespace starling::optim
