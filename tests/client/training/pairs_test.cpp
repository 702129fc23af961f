// Honest computers whose libraries compute in different ways are far nearer to each other than audits demand.
#include <doctest/doctest.h>

#include "tests/client/training/gradient_process.h"
#include "tests/support/skip.h"

using namespace starling::training::testing;

TEST_CASE("gradients by one thread or two, one sample at a time or sixteen, are near each other") {
  const GradientProcess process;
  const auto usual = process.gradients({});
  check_near("1 against 2 threads", usual, process.gradients({.threads = 2}));
  check_near("micro-batch 16 against 1", usual, process.gradients({.micro_batch = 1}));
}

TEST_CASE("gradients by AVX2 and by SSE are near each other") {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) starling::testing::skip("this processor has no AVX2");
  const GradientProcess process;
  const auto avx2 = process.gradients({.environment = kAvx2});
  const auto sse = process.gradients({.environment = kSse});
  check_near("AVX2 against SSE", avx2, sse);
  CHECK(avx2 != sse);  // the libraries heed these names
#else
  starling::testing::skip("AVX2 and SSE are instructions of x86-64");
#endif
}
