#include "tests/bench/step_bench.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/optim/step_journal.h"
#include "client/training/torch_trainer.h"
#include "shared/base/permutation.h"
#include "shared/wire/model_layout.h"
#include "tests/bench/bare_gpt.h"

namespace starling::bench {

namespace {

template <typename Work>
double seconds_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

wire::RunManifest manifest_of(const StepBenchOptions& options) {
  wire::RunManifest manifest;
  manifest.model = options.model;
  manifest.micro_batch_size = options.micro_batch;
  manifest.peers_max = 1;
  return manifest;
}

// Letters and spaces: what is learnt does not matter here.
std::vector<std::uint8_t> text_of(std::size_t bytes) {
  std::vector<std::uint8_t> text(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    text[i] = static_cast<std::uint8_t>(mix64(i) % 5 == 0 ? ' ' : 'a' + mix64(i) % 26);
  return text;
}

// Our trainer with the memory it works on.
struct OurLoop {
  explicit OurLoop(const StepBenchOptions& o)
      : options(o),
        manifest(manifest_of(o)),
        text(text_of(1 << 20)),
        parameters(wire::parameter_count(o.model)),
        state(wire::state_size(manifest)),
        scratch(parameters),
        sum(parameters),
        journal(std::make_unique<optim::StepJournal>()) {}

  Status open() {
    auto created =
        training::TorchTrainer::create({manifest, text, text, state, scratch, journal.get(), options.threads});
    if (!created) return created.error();
    trainer = std::move(created).value();
    return trainer->initialize();
  }

  Status step(RoundIndex round) {
    std::fill(sum.begin(), sum.end(), 0.0F);
    for (int i = 0; i < options.micro_batches_a_step; ++i) {
      const auto report =
          trainer->train_batch({round, 0, SampleCount{i} * options.micro_batch, options.micro_batch}, sum);
      if (!report) return report.error();
    }
    const float scale = 1.0F / static_cast<float>(options.micro_batch * options.micro_batches_a_step);
    for (float& value : sum) value *= scale;
    return trainer->step(round, sum);
  }

  StepBenchOptions options;
  wire::RunManifest manifest;
  std::vector<std::uint8_t> text;
  std::size_t parameters;
  std::vector<float> state, scratch, sum;
  std::unique_ptr<optim::StepJournal> journal;
  std::unique_ptr<training::TorchTrainer> trainer;
};

std::vector<std::int64_t> random_starts(const OurLoop& ours, int step, int micro_batch) {
  const auto space = static_cast<std::uint64_t>(
      wire::window_space(static_cast<std::int64_t>(ours.text.size()), ours.manifest.model.context));
  std::vector<std::int64_t> starts;
  for (int i = 0; i < ours.options.micro_batch; ++i) {
    const auto index = (static_cast<std::uint64_t>(step) << 40) + (static_cast<std::uint64_t>(micro_batch) << 20) +
                       static_cast<std::uint64_t>(i);
    starts.push_back(static_cast<std::int64_t>(mix64(index) % space));
  }
  return starts;
}

BenchResult summary(const StepBenchOptions& options, const std::vector<double>& ours, const std::vector<double>& bare) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / bare[i]);
  const double samples = static_cast<double>(options.micro_batch) * options.micro_batches_a_step;
  const double tokens = samples * options.model.context;
  BenchResult result;
  result.settings = {{"layers", std::to_string(options.model.layers)},
                     {"width", std::to_string(options.model.width)},
                     {"heads", std::to_string(options.model.heads)},
                     {"context", std::to_string(options.model.context)},
                     {"micro_batch", std::to_string(options.micro_batch)},
                     {"micro_batches_a_step", std::to_string(options.micro_batches_a_step)},
                     {"steps", std::to_string(options.steps)},
                     {"threads", std::to_string(options.threads)}};
  result.figures = {{"step_s", median(ours)},
                    {"bare_step_s", median(bare)},
                    {"ratio_to_bare", median(ratios)},
                    {"tokens_per_s", tokens / median(ours)},
                    {"bare_tokens_per_s", tokens / median(bare)},
                    {"gflops", wire::flops_per_sample(options.model) * samples / median(ours) / 1e9}};
  return result;
}

}  // namespace

Result<BenchResult> run_step_bench(const StepBenchOptions& options) {
  if (options.steps < 1 || options.micro_batch < 1 || options.micro_batches_a_step < 1) {
    return Error{ErrorCode::invalid_argument, "step benchmark: steps and batches must be at least 1"};
  }
  OurLoop ours(options);
  STARLING_TRY(ours.open());
  BareLoop bare(ours.manifest);
  bare.load(std::span(ours.state).first(ours.parameters));
  constexpr int kWarmUp = 2;
  std::vector<double> our_seconds, bare_seconds;
  for (int step = 0; step < kWarmUp + options.steps; ++step) {
    Status status;
    const double ours_took = seconds_of([&] { status = ours.step(step); });
    STARLING_TRY(status);
    const double bare_took = seconds_of([&] {
      for (int i = 0; i < options.micro_batches_a_step; ++i) bare.backward(ours.text, random_starts(ours, step, i));
      bare.step();
    });
    if (step < kWarmUp) continue;
    our_seconds.push_back(ours_took);
    bare_seconds.push_back(bare_took);
  }
  return summary(options, our_seconds, bare_seconds);
}

}  // namespace starling::bench
