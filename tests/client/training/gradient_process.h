// Runs starling_gradients (gradients.cpp), or another build of it, with libraries that compute in a given way.
#pragma once

#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace starling::training::testing {

struct Computing {
  std::string program = STARLING_GRADIENTS;  // and arguments that come first, as a shell reads them
  std::string environment{};                 // "NAME=value …"
  int threads = 1;
  int micro_batch = 16;
};

// Instructions that LibTorch, oneDNN and OpenBLAS are told to use.
extern const char* const kAvx2;  // those of every processor since 2015 or so
extern const char* const kSse;   // those of every x86-64

class GradientProcess {
 public:
  // Trains the models.
  GradientProcess();

  // The gradients of the gpt and of the resnet.
  [[nodiscard]] std::vector<std::vector<float>> gradients(const Computing& how) const;

 private:
  starling::testing::TempDir folder_;
};

// Prints how far b is from a, for each model, and checks that it is less than a tenth of the least tolerance of audits.
void check_near(const std::string& what, const std::vector<std::vector<float>>& a,
                const std::vector<std::vector<float>>& b);

}  // namespace starling::training::testing
