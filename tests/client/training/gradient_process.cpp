#include "tests/client/training/gradient_process.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "shared/base/files.h"

namespace starling::training::testing {
namespace {

constexpr double kToleranceLeast = 1e-4;  // that audits in fp32 have
constexpr std::size_t kBytesMax = std::size_t{1} << 30;

}  // namespace

const char* const kAvx2 =
    "ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2 OPENBLAS_CORETYPE=Haswell";
const char* const kSse =
    "ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 DNNL_MAX_CPU_ISA=SSE41 OPENBLAS_CORETYPE=Prescott";

GradientProcess::GradientProcess() {
  const std::string command = std::string(STARLING_GRADIENTS " train > ") + (folder_ / "models").string();
  REQUIRE(std::system(command.c_str()) == 0);
}

std::vector<std::vector<float>> GradientProcess::gradients(const Computing& how) const {
  const std::string out = (folder_ / "gradients").string();
  const std::string command = "OPENBLAS_NUM_THREADS=" + std::to_string(how.threads) + " " + how.environment + " " +
                              how.program + " compute " + std::to_string(how.threads) + " " +
                              std::to_string(how.micro_batch) + " < " + (folder_ / "models").string() + " > " + out;
  CAPTURE(command);
  REQUIRE(std::system(command.c_str()) == 0);
  const auto models = read_file(folder_ / "models", kBytesMax);
  const auto bytes = read_file(out, kBytesMax);
  REQUIRE((models.ok() && bytes.ok()));
  REQUIRE(bytes->size() == models->size());  // one number for each parameter
  std::vector<float> all(bytes->size() / sizeof(float));
  std::memcpy(all.data(), bytes->data(), bytes->size());
  std::vector<std::vector<float>> gradients;
  for (auto at = all.begin(); at != all.end();) {
    const auto end = at + 1 + static_cast<std::ptrdiff_t>(*at);
    REQUIRE(end <= all.end());
    gradients.emplace_back(at + 1, end);
    at = end;
  }
  return gradients;
}

void check_near(const std::string& what, const std::vector<std::vector<float>>& a,
                const std::vector<std::vector<float>>& b) {
  for (std::size_t model = 0; model < a.size(); ++model) {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < a[model].size(); ++i) {
      difference += std::pow(static_cast<double>(a[model][i]) - b[model][i], 2);
      norm += std::pow(static_cast<double>(a[model][i]), 2);
    }
    const double relative = std::sqrt(difference / norm);
    const std::string pair = what + (model == 0 ? ", gpt: " : ", resnet: ");
    MESSAGE(pair, relative);
    CHECK(norm > 0);
    CHECK(relative < kToleranceLeast / 10);
  }
}

}  // namespace starling::training::testing
