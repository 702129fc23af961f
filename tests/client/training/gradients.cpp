// Gradients of two small trained models, a gpt and a resnet, for comparisons between processes whose libraries compute
// otherwise (gradient_process.h).
//
//   starling_gradients train                          writes both models' parameters
//   starling_gradients compute THREADS MICRO_BATCH    reads them, and writes the gradients of 16 samples each
//
// Everything is read from standard input and written to standard output, as floats: a number of values, and the values.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "client/optim/step_journal.h"
#include "client/training/torch_trainer.h"
#include "shared/base/verify.h"
#include "shared/run/model_layout.h"
#include "tests/client/training/data_files.h"
#include "tests/support/suite_form.h"

namespace {

using namespace starling;

constexpr SampleCount kSamples = 16;
const RoundIndex kRounds = starling::testing::times<RoundIndex>(12, 40);

wire::RunManifest manifest_of(wire::Architecture architecture) {
  wire::RunManifest manifest;
  manifest.model.architecture = architecture;
  manifest.peers_max = 1;
  manifest.schedule = {.kind = wire::ScheduleKind::constant, .learning_rate = 3e-3, .warmup_rounds = 5};
  const bool is_text = architecture == wire::Architecture::gpt;
  manifest.data.kind = is_text ? wire::DataKind::tokens : wire::DataKind::labelled;
  manifest.model.layers = is_text ? 3 : 18;
  manifest.model.width = is_text ? 96 : 32;
  manifest.model.heads = 3;
  manifest.model.context = 64;
  manifest.model.vocabulary = 30;
  manifest.model.image_size = 16;
  manifest.model.inputs = 768;
  manifest.model.classes = 2;
  return manifest;
}

// A model, its data, and a trainer of it.
struct Work {
  Work(wire::Architecture architecture, int threads, SampleCount micro_batch) : manifest(manifest_of(architecture)) {
    manifest.micro_batch_size = micro_batch;
    file = architecture == wire::Architecture::gpt ? training::testing::paired_tokens(2000)
                                                   : training::testing::two_kinds_of_images(64, 16);
    state.resize(wire::state_size(manifest));
    gradient.resize(wire::parameter_count(manifest.model));
    auto made = training::TorchTrainer::create({manifest, file, file, state, gradient, journal.get(), threads, false});
    VERIFY(made.ok());
    trainer = std::move(made).value();
  }

  void compute(RoundIndex round) { VERIFY(trainer->train_batch({round, 0, 0, kSamples}, gradient).ok()); }
  [[nodiscard]] std::span<float> parameters() { return trainer->state().first(gradient.size()); }

  wire::RunManifest manifest;
  training::testing::Bytes file;
  std::vector<float> state, gradient;
  std::unique_ptr<optim::StepJournal> journal = std::make_unique<optim::StepJournal>();
  std::unique_ptr<training::TorchTrainer> trainer;
};

// With the number of values first, as a float.
void write(std::span<const float> values) {
  const auto count = static_cast<float>(values.size());
  VERIFY(std::fwrite(&count, sizeof count, 1, stdout) == 1);
  VERIFY(std::fwrite(values.data(), sizeof(float), values.size(), stdout) == values.size());
}

constexpr wire::Architecture kModels[] = {wire::Architecture::gpt, wire::Architecture::resnet};

void train() {
  for (const wire::Architecture model : kModels) {
    Work work(model, 1, kSamples);
    VERIFY(work.trainer->initialize().ok());
    for (RoundIndex round = 0; round < (model == wire::Architecture::gpt ? kRounds : kRounds / 4); ++round) {
      work.compute(round);
      std::vector<float> mean = work.gradient;
      for (float& value : mean) value /= static_cast<float>(kSamples);
      VERIFY(work.trainer->step(round, mean).ok());
    }
    write(work.parameters());
  }
}

void compute(int threads, SampleCount micro_batch) {
  for (const wire::Architecture model : kModels) {
    Work work(model, threads, micro_batch);
    const std::span<float> parameters = work.parameters();
    float count = 0;
    VERIFY(std::fread(&count, sizeof count, 1, stdin) == 1 && count == static_cast<float>(parameters.size()));
    VERIFY(std::fread(parameters.data(), sizeof(float), parameters.size(), stdin) == parameters.size());
    work.compute(kRounds);
    write(work.gradient);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "train") {
    train();
  } else if (argc == 4 && std::string_view(argv[1]) == "compute") {
    compute(std::atoi(argv[2]), std::atoi(argv[3]));
  } else {
    std::fputs("starling_gradients train | compute THREADS MICRO_BATCH\n", stderr);
    return 2;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
