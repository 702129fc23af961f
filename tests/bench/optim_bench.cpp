#include "tests/bench/optim_bench.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "client/optim/newton_schulz.h"
#include "client/optim/optimizer.h"
#include "shared/base/permutation.h"
#include "shared/run/model_layout.h"
#include "shared/state/initial_state.h"

namespace starling::bench {
namespace {

struct Subject {
  std::string name;
  wire::OptimizerOptions options;
  double floats_moved;                                // per parameter in one step
  wire::MomentForm moments = wire::MomentForm::fp32;  // form that they are rounded to
};

std::vector<Subject> subjects() {
  wire::OptimizerOptions plain = wire::default_optimizer(wire::OptimizerKind::sgd);
  plain.momentum = 0;
  // The gradient once for its norm; then the gradient, and each vector in and out.
  return {{"plain_sgd", plain, 1 + 1 + 2},
          {"sgd", wire::default_optimizer(wire::OptimizerKind::sgd), 1 + 1 + 4},
          {"adamw", wire::default_optimizer(wire::OptimizerKind::adamw), 1 + 1 + 6},
          // Moments in and out once more.
          {"adamw_fp16", wire::default_optimizer(wire::OptimizerKind::adamw), 1 + 1 + 6 + 4, wire::MomentForm::fp16},
          {"adamw_fp8", wire::default_optimizer(wire::OptimizerKind::adamw), 1 + 1 + 6 + 4, wire::MomentForm::fp8},
          // Gradient and vectors once before, for the trust ratios.
          {"lamb", wire::default_optimizer(wire::OptimizerKind::lamb), 1 + 4 + 1 + 6},
          // Four vectors in and two out; in the last round of a window two more.
          {"accum_adamw", wire::default_optimizer(wire::OptimizerKind::accum_adamw), 1 + 1 + 6}};
}

wire::RunManifest manifest_of(const OptimBenchOptions& options, const Subject& subject) {
  wire::RunManifest manifest;
  manifest.model = {.layers = options.layers, .width = 1024, .heads = 8, .context = 128};
  manifest.optimizer = subject.options;
  manifest.moments = subject.moments;
  return manifest;
}

void measure(const Subject& subject, const OptimBenchOptions& options, std::vector<double>& copied_s,
             BenchResult& result) {
  const wire::RunManifest manifest = manifest_of(options, subject);
  const optim::Optimizer optimizer(manifest);
  const std::size_t parameters = optimizer.parameter_count();
  std::vector<float> state(optimizer.state_size());
  state::fill_initial_state(manifest, state);
  std::vector<float> gradient(parameters), copy(parameters);
  for (std::size_t i = 0; i < parameters; ++i) gradient[i] = static_cast<float>(mix64(i) >> 40) * 0x1p-30F - 0x1p-7F;
  const auto journal = std::make_unique<optim::StepJournal>();
  std::vector<double> stepped_s;
  for (int pass = 0; pass <= options.passes; ++pass) {
    const double begin = thread_cpu_seconds();
    std::memcpy(copy.data(), state.data(), copy.size() * sizeof(float));
    const double copied = thread_cpu_seconds();
    VERIFY(optimizer.step(pass, gradient, state, *journal).ok());
    if (pass == 0) continue;  // warm-up
    stepped_s.push_back(thread_cpu_seconds() - copied);
    copied_s.push_back(copied - begin);
  }
  const auto count = static_cast<double>(parameters);
  result.figures[subject.name + "_gb_s"] = subject.floats_moved * sizeof(float) * count / median(stepped_s) / 1e9;
  result.figures[subject.name + "_ns"] = median(stepped_s) / count * 1e9;
  result.settings["parameters"] = fmt::format("{}", parameters);
}

// Speed of Muon's main work, in operations of this thread.
double newton_schulz_gflops(int passes) {
  constexpr std::size_t kRows = 512, kColumns = 2048;
  constexpr int kSteps = 5;
  std::vector<float> matrix(kRows * kColumns);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(mix64(i) >> 40) * 0x1p-24F - 0.5F;
  std::vector<double> seconds;
  for (int pass = 0; pass < passes; ++pass) {
    const double begin = thread_cpu_seconds();
    const std::vector<float> out = optim::orthogonalized(matrix, kRows, kSteps, optim::kernels());
    seconds.push_back(thread_cpu_seconds() - begin);
    VERIFY(out.size() == matrix.size());
  }
  return optim::newton_schulz_flops(kRows, kColumns, kSteps) / median(seconds) / 1e9;
}

}  // namespace

Result<BenchResult> run_optim_bench(const OptimBenchOptions& options) {
  BenchResult result;
  std::vector<double> copied_s;
  for (const Subject& subject : subjects()) measure(subject, options, copied_s, result);
  const double bytes = std::stod(result.settings["parameters"]) * 2 * sizeof(float);
  const double copy_gb_s = bytes / median(copied_s) / 1e9;
  for (const Subject& subject : subjects()) {
    result.figures[subject.name + "_vs_copy"] = result.figures[subject.name + "_gb_s"] / copy_gb_s;
  }
  result.settings["passes"] = fmt::format("{}", options.passes);
  result.figures["copy_gb_s"] = copy_gb_s;
  result.figures["muon_gflops"] = newton_schulz_gflops(options.passes);
  result.figures["kernels_avx2"] = optim::avx2_kernels() != nullptr ? 1 : 0;
  return result;
}

}  // namespace starling::bench
