#include "tests/bench/step_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/optim/step_journal.h"
#include "client/training/batches.h"
#include "client/training/torch_trainer.h"
#include "shared/run/model_layout.h"
#include "tests/bench/bare_models.h"
#include "tests/bench/python_loop.h"
#include "tests/bench/step_case.h"

namespace starling::bench {

namespace {

constexpr int kSearch = 20;          // micro-batches in which our trainer finds its pieces' size
constexpr int kWarmUp = 2;           // steps of each
constexpr double kLossApart = 1e-3;  // relative difference of losses; a larger one means different functions
constexpr double kBareAim = 1.03;
constexpr double kPythonAim = 1.0;

template <typename Work>
double seconds_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Our trainer with its memory.
struct OurLoop {
  OurLoop(const StepCase& wanted, std::vector<std::uint8_t> data)
      : step_case(wanted),
        file(std::move(data)),
        parameters(wire::parameter_count(wanted.manifest.model)),
        state(wire::state_size(wanted.manifest)),
        scratch(parameters),
        sum(parameters),
        journal(std::make_unique<optim::StepJournal>()) {}

  Status open(int threads) {
    STARLING_ASSIGN(trainer, training::TorchTrainer::create(
                                 {step_case.manifest, file, file, state, scratch, journal.get(), threads}));
    return trainer->initialize();
  }

  [[nodiscard]] wire::SampleRange range(RoundIndex round, int micro_batch) const {
    const SampleCount each = step_case.manifest.micro_batch_size;
    return {round, 0, SampleCount{micro_batch} * each, each};
  }

  // A volunteer's step: every micro-batch into the sum, then one step on its mean.
  Status step(RoundIndex round) {
    std::fill(sum.begin(), sum.end(), 0.0F);
    for (int i = 0; i < step_case.micro_batches_a_step; ++i) {
      STARLING_TRY(trainer->train_batch(range(round, i), sum).status());
    }
    const float scale = 1.0F / static_cast<float>(samples());
    for (float& value : sum) value *= scale;
    return trainer->step(round, sum);
  }

  [[nodiscard]] double samples() const {
    return static_cast<double>(step_case.manifest.micro_batch_size) * step_case.micro_batches_a_step;
  }

  StepCase step_case;
  std::vector<std::uint8_t> file;
  std::size_t parameters;
  std::vector<float> state, scratch, sum;
  std::unique_ptr<optim::StepJournal> journal;
  std::unique_ptr<training::TorchTrainer> trainer;
};

// The batches of the other loops, used in every step: made before the clock runs, which is to their advantage.
Result<std::vector<models::Batch>> ready_batches(const OurLoop& ours) {
  STARLING_ASSIGN(const training::Dataset data, training::Dataset::open(ours.step_case.manifest, ours.file, 1));
  std::vector<models::Batch> batches;
  for (int i = 0; i < ours.step_case.micro_batches_a_step; ++i) {
    STARLING_ASSIGN(models::Batch batch, training::sample_batch(ours.step_case.manifest, data, ours.range(0, i)));
    batches.push_back(std::move(batch));
  }
  return batches;
}

Status check_same(const char* who, double loss, double ours) {
  if (std::abs(loss - ours) <= kLossApart * std::abs(ours)) return {};
  return Error{ErrorCode::internal, fmt::format("step benchmark: {} has the loss {}, and ours is {}", who, loss, ours)};
}

struct Times {
  std::vector<double> ours, bare, python;
};

std::vector<double> ratios(const std::vector<double>& ours, const std::vector<double>& others) {
  std::vector<double> all;
  for (std::size_t i = 0; i < others.size(); ++i) all.push_back(ours[i] / others[i]);
  return all;
}

BenchResult row_of(const OurLoop& ours, const Times& times) {
  BenchResult row;
  const wire::RunManifest& manifest = ours.step_case.manifest;
  row.name = ours.step_case.name;
  row.settings = {{"parameters", std::to_string(ours.parameters)},
                  {"micro_batch", std::to_string(manifest.micro_batch_size)},
                  {"micro_batches_a_step", std::to_string(ours.step_case.micro_batches_a_step)}};
  row.figures = {{"step_s", median(times.ours)},
                 {"bare_step_s", median(times.bare)},
                 {"ratio_to_bare", median(ratios(times.ours, times.bare))},
                 {"gflops", wire::flops_per_sample(manifest.model) * ours.samples() / median(times.ours) / 1e9}};
  row.aims = {{"ratio_to_bare", kBareAim}};
  row.figures["python_step_s"] = times.python.empty() ? kDoesNotApply : median(times.python);
  row.figures["ratio_to_python"] = times.python.empty() ? kDoesNotApply : median(ratios(times.ours, times.python));
  if (!times.python.empty()) row.aims["ratio_to_python"] = kPythonAim;
  row.series = {{"step_s", times.ours}, {"bare_step_s", times.bare}, {"python_step_s", times.python}};
  return row;
}

Result<BenchResult> run_case(const StepBenchOptions& options, const std::string& name) {
  const StepCase wanted = step_case(name);
  OurLoop ours(wanted, step_data(wanted.manifest));
  STARLING_TRY(ours.open(options.threads));
  STARLING_ASSIGN(const std::vector<models::Batch> batches, ready_batches(ours));
  const std::span<const float> parameters = std::span(ours.state).first(ours.parameters);
  BareLoop bare(wanted.manifest);
  bare.load(parameters);
  STARLING_ASSIGN(const auto python,
                  PythonLoop::start(options.python, options.threads, wanted.manifest, parameters, batches));
  const auto report = ours.trainer->train_batch(ours.range(0, 0), ours.sum);
  if (!report) return report.error();
  const double loss = report->loss_sum / static_cast<double>(report->samples);
  STARLING_TRY(check_same("the bare loop", bare.backward(batches.front()), loss));
  if (python) STARLING_TRY(check_same("PyTorch", python->first_loss(), loss));

  for (int i = 1; i < kSearch; ++i) STARLING_TRY(ours.trainer->train_batch(ours.range(0, 0), ours.sum).status());
  Times times;
  for (int step = 0; step < kWarmUp + options.steps; ++step) {
    Status status;
    const double ours_took = seconds_of([&] { status = ours.step(step); });
    STARLING_TRY(status);
    const double bare_took = seconds_of([&] {
      for (const models::Batch& batch : batches) bare.backward(batch);
      bare.step();
    });
    const Result<double> python_took = python ? python->step() : Result<double>(kDoesNotApply);
    STARLING_TRY(python_took.status());
    if (step < kWarmUp) continue;
    times.ours.push_back(ours_took);
    times.bare.push_back(bare_took);
    if (python) times.python.push_back(*python_took);
  }
  return row_of(ours, times);
}

}  // namespace

std::vector<std::string> step_columns() {
  return {"step_s", "bare_step_s", "python_step_s", "ratio_to_bare", "ratio_to_python", "gflops"};
}

Result<BenchResult> run_step_bench(const StepBenchOptions& options) {
  BenchResult result;
  result.settings = {{"steps", std::to_string(options.steps)}, {"threads", std::to_string(options.threads)}};
  for (const std::string& name : options.models) {
    STARLING_ASSIGN(BenchResult row, run_case(options, name));
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace starling::bench
