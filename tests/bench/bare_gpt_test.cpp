// The benchmark is fair only if both sides compute the same function.
#include "tests/bench/bare_gpt.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/training/torch_trainer.h"
#include "shared/base/permutation.h"
#include "shared/wire/training_data.h"

using namespace starling;

TEST_CASE("the bare model has the trainer's loss on the trainer's samples, before and after a step") {
  wire::RunManifest manifest;
  manifest.model = {.layers = 2, .width = 32, .heads = 4, .context = 24};
  manifest.peers_max = 1;
  std::vector<std::uint8_t> text(5000);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::uint8_t>('a' + mix64(i) % 20);
  const optim::Optimizer optimizer(manifest);
  std::vector<float> state(optimizer.state_size()), scratch(optimizer.parameter_count());
  const auto journal = std::make_unique<optim::StepJournal>();
  auto trainer = training::TorchTrainer::create({manifest, text, text, state, scratch, journal.get(), 1});
  REQUIRE(trainer.ok());
  REQUIRE((*trainer)->initialize().ok());

  std::vector<std::int64_t> starts;
  const std::int64_t space = wire::window_space(static_cast<std::int64_t>(text.size()), manifest.model.context);
  for (SampleCount k = 0; k < 8; ++k) {
    const auto shuffle = wire::round_permutation(manifest.seed, 0, space);
    starts.push_back(static_cast<std::int64_t>(shuffle.at(wire::sample_position(0, k, 1, space))));
  }
  bench::BareLoop bare(manifest);
  for (RoundIndex round = 0; round < 2; ++round) {
    bare.load(std::span(state).first(optimizer.parameter_count()));
    std::vector<float> gradient(optimizer.parameter_count());
    const auto report = (*trainer)->train_batch({0, 0, 0, 8}, gradient);
    REQUIRE(report.ok());
    CHECK(bare.backward(text, starts) == doctest::Approx(report->loss_sum / 8).epsilon(1e-5));
    for (float& value : gradient) value /= 8;
    REQUIRE((*trainer)->step(round, gradient).ok());
  }
}
