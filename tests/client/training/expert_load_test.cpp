// A gate that sends nearly all tokens to one expert, and what becomes of it in training.
#include <ATen/ATen.h>
#include <torch/utils.h>

#include <span>
#include <vector>
// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

#include "client/models/decoder_parts.h"
#include "client/models/experts.h"
#include "client/models/parameters.h"
#include "client/optim/optimizer.h"
#include "client/training/torch_trainer.h"
#include "shared/run/model_layout.h"
#include "tests/client/training/data_files.h"

using namespace starling;
using namespace starling::training;
using namespace starling::training::testing;

namespace {

constexpr int kExperts = 32;
constexpr int kRounds = 200;

wire::RunManifest run_with(double load_loss) {
  wire::RunManifest manifest;
  manifest.model = {.architecture = wire::Architecture::decoder, .layers = 1, .width = 32, .heads = 2, .context = 24};
  manifest.model.vocabulary = 30;
  manifest.model.mlp_width = 16;
  manifest.model.experts = {.rows = kExperts, .active = 2, .load_loss = load_loss};
  manifest.data.kind = wire::DataKind::tokens;
  manifest.peers_max = 1;
  manifest.micro_batch_size = 16;
  manifest.schedule.kind = wire::ScheduleKind::constant;
  manifest.schedule.warmup_rounds = 5;
  manifest.schedule.learning_rate = 3e-3;
  return manifest;
}

// The tokens of the busiest expert over the mean of all.
double busiest(const wire::ModelOptions& model, std::span<float> state, const at::Tensor& tokens) {
  const torch::NoGradGuard no_grad;
  const auto floats = static_cast<std::int64_t>(wire::parameter_count(model));
  const at::Tensor vector = at::from_blob(state.data(), {floats}, at::kFloat);
  const models::DecoderParts parts(model, models::Parameters(model, vector, at::zeros_like(vector)));
  const at::Tensor x = parts.with_attention(parts.embedded(tokens), tokens.size(0), 0);
  const at::Tensor outputs = models::gate_outputs(model, parts.parameters(), parts.normalised(x, 0), "block0.");
  const at::Tensor scores = models::expert_scores(model, outputs);
  const at::Tensor chosen = models::choose_experts(scores, model.experts.active).experts.reshape({-1});
  const at::Tensor counts = at::bincount(chosen, {}, kExperts).to(at::kDouble);
  return (counts.max() / counts.mean()).item<double>();
}

// All tokens have a direction in common, and the gate's first row points there.
void make_one_win(const wire::ModelOptions& model, std::span<float> state) {
  for (const wire::ParameterInfo& info : wire::model_layout(model)) {
    if (info.name == "embedding.weight") {
      for (std::size_t i = 0; i < info.count; i += static_cast<std::size_t>(model.width)) state[info.offset + i] += 2;
    }
    if (info.name == "block0.gate_rows.weight") state[info.offset] = 10;
  }
}

// Busiest over mean, before and after the rounds.
std::pair<double, double> train(double load_loss) {
  const wire::RunManifest manifest = run_with(load_loss);
  const Bytes file = paired_tokens(1000);
  optim::Optimizer optimizer(manifest);
  std::vector<float> state(optimizer.state_size()), scratch(optimizer.parameter_count()), sum(scratch.size());
  const auto journal = std::make_unique<optim::StepJournal>();
  auto trainer = TorchTrainer::create({manifest, file, file, state, scratch, journal.get(), 1, false});
  REQUIRE_MESSAGE(trainer.ok(), trainer.error().message);
  REQUIRE((*trainer)->initialize().ok());
  make_one_win(manifest.model, state);
  const at::Tensor tokens = at::arange(5, 29, at::kLong).repeat({8, 1});
  const double before = busiest(manifest.model, state, tokens);
  for (RoundIndex round = 0; round < kRounds; ++round) {
    std::fill(sum.begin(), sum.end(), 0.0F);
    REQUIRE((*trainer)->train_batch({round, 0, 0, manifest.micro_batch_size}, sum).ok());
    for (float& value : sum) value /= static_cast<float>(manifest.micro_batch_size);
    REQUIRE((*trainer)->step(round, sum).ok());
  }
  return {before, busiest(manifest.model, state, tokens)};
}

}  // namespace

TEST_CASE(
    "an expert that wins all tokens at the start shares them within 200 rounds, and keeps them without the loss") {
  const auto [before, with_loss] = train(0.05);
  const auto [same, without_loss] = train(0);
  MESSAGE("busiest over mean: " << before << ", with the loss " << with_loss << ", without " << without_loss);
  CHECK(before > 10);
  CHECK(with_loss <= 3);
  CHECK(without_loss > 10);
}
