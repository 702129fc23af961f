// Gradients by this LibTorch and by another one, which another build of starling_gradients has: "Newer libraries" in
// CONTRIBUTING.md makes one.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/client/training/gradient_process.h"
#include "tests/support/skip.h"

using namespace starling::training::testing;

TEST_CASE("gradients by another LibTorch are near") {
  constexpr const char* kVariable = "STARLING_OTHER_GRADIENTS";
  const char* program = std::getenv(kVariable);
  if (program == nullptr || *program == '\0') {
    starling::testing::skip(std::string("no starling_gradients with another LibTorch is named by ") + kVariable);
  }
  const GradientProcess process;
  check_near("this LibTorch against another", process.gradients({}), process.gradients({.program = program}));
}
