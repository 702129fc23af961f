// The benchmark is fair only if both sides compute one function.
#include "tests/bench/bare_models.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/training/batches.h"
#include "client/training/torch_trainer.h"
#include "shared/run/model_layout.h"
#include "tests/bench/step_case.h"

using namespace starling;
using namespace starling::bench;

TEST_CASE("each bare model has the trainer's loss on the trainer's samples, before and after a step") {
  for (const std::string name : {"gpt", "albert", "resnet"}) {
    CAPTURE(name);
    StepCase small = step_case(name);
    wire::RunManifest& manifest = small.manifest;
    manifest.model.width = 32;
    manifest.model.heads = 4;
    manifest.model.context = 24;
    manifest.model.mlp_width = 64;
    manifest.model.embedding_width = 16;
    manifest.model.image_size = 16;
    manifest.micro_batch_size = 4;
    if (name != "resnet") manifest.model.layers = 2;
    const std::vector<std::uint8_t> file = step_data(manifest);
    const std::size_t parameters = wire::parameter_count(manifest.model);
    std::vector<float> state(wire::state_size(manifest)), scratch(parameters);
    const auto journal = std::make_unique<optim::StepJournal>();
    auto trainer = training::TorchTrainer::create({manifest, file, file, state, scratch, journal.get(), 1});
    REQUIRE_MESSAGE(trainer.ok(), trainer.error().message);
    REQUIRE((*trainer)->initialize().ok());
    const auto data = training::Dataset::open(manifest, file, 1);
    REQUIRE(data.ok());
    const wire::SampleRange range{0, 0, 0, manifest.micro_batch_size};
    const auto batch = training::sample_batch(manifest, *data, range);
    REQUIRE(batch.ok());

    BareLoop bare(manifest);
    for (RoundIndex round = 0; round < 2; ++round) {
      bare.load(std::span(state).first(parameters));
      std::vector<float> gradient(parameters);
      const auto report = (*trainer)->train_batch(range, gradient);
      REQUIRE(report.ok());
      const auto samples = static_cast<double>(range.count);
      CHECK(bare.backward(*batch) == doctest::Approx(report->loss_sum / samples).epsilon(1e-5));
      for (float& value : gradient) value /= static_cast<float>(samples);
      REQUIRE((*trainer)->step(round, gradient).ok());
    }
  }
}
