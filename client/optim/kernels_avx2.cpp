#include "client/optim/kernels.h"

#if defined(__x86_64__)

// Only these functions are compiled for AVX2: the rest of the program runs on any x86-64 processor.
#define STARLING_KERNEL __attribute__((target("avx2")))
#include "client/optim/kernel_loops.h"

namespace starling::optim {

const Kernels* avx2_kernels() {
  static const bool usable = __builtin_cpu_supports("avx2") != 0;
  return usable ? &kLoops : nullptr;
}

}  // namespace starling::optim

#else

namespace starling::optim {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace starling::optim

#endif
