#include "client/models/experts.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

#include "client/models/decoder.h"
#include "shared/run/model_layout.h"

using namespace starling;
using namespace starling::models;

namespace {

constexpr std::int64_t kTokens = 24;

at::Tensor noise(std::vector<std::int64_t> shape, std::uint64_t seed) {
  return at::randn(shape, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kDouble));
}

wire::ModelOptions with_grid(int rows, int columns) {
  wire::ModelOptions model{.architecture = wire::Architecture::decoder,
                           .layers = 1,
                           .width = 16,
                           .heads = 2,
                           .context = 12,
                           .vocabulary = 40};
  model.mlp_width = 20;
  model.experts.rows = rows;
  model.experts.columns = columns;
  return model;
}

struct Fixture {
  explicit Fixture(const wire::ModelOptions& options)
      : model(options),
        vector(noise({static_cast<std::int64_t>(wire::parameter_count(model))}, 3) * 0.3),
        gradient(at::zeros_like(vector)),
        parameters(model, vector, gradient) {}

  wire::ModelOptions model;
  at::Tensor vector;
  at::Tensor gradient;
  Parameters parameters;
};

}  // namespace

TEST_CASE("the mixture is the weighted sum of what the chosen experts make of each token") {
  for (const auto& [rows, columns] : {std::pair{5, 1}, {2, 3}}) {
    const Fixture fixture(with_grid(rows, columns));
    const at::Tensor x = noise({kTokens, fixture.model.width}, 7);
    const torch::NoGradGuard no_grad;
    const at::Tensor scores =
        expert_scores(fixture.model, gate_outputs(fixture.model, fixture.parameters, x, "block0."));
    REQUIRE(scores.sizes() == at::IntArrayRef({kTokens, rows * columns}));
    const Choice choice = choose_experts(scores, 2);
    at::Tensor expected = at::zeros_like(x);
    for (std::int64_t token = 0; token < kTokens; ++token) {
      // Softmax over all, of which the two largest are kept and made to add up to 1.
      const at::Tensor likely = at::softmax(scores[token], 0);
      const auto best = likely.argsort(0, /*descending=*/true);
      const double both = likely[best[0]].item<double>() + likely[best[1]].item<double>();
      for (int i = 0; i < 2; ++i) {
        const auto expert = best[i].item<std::int64_t>();
        CHECK(choice.experts[token][i].item<std::int64_t>() == expert);
        const std::string name = wire::expert_name(0, static_cast<int>(expert));
        const at::Tensor made = fixture.parameters.gated_perceptron(x.narrow(0, token, 1), name)[0];
        expected[token] += made * (likely[expert].item<double>() / both);
      }
    }
    CHECK(at::allclose(mix_experts(fixture.model, fixture.parameters, x, choice, 0), expected, 1e-9, 1e-10));
  }
}

TEST_CASE("an expert's score is its row's and its column's, added up") {
  const Fixture fixture(with_grid(2, 3));
  const at::Tensor x = noise({4, fixture.model.width}, 7);
  const torch::NoGradGuard no_grad;
  const at::Tensor scores = expert_scores(fixture.model, gate_outputs(fixture.model, fixture.parameters, x, "block0."));
  const at::Tensor rows = fixture.parameters.product(x, "block0.gate_rows");
  const at::Tensor columns = fixture.parameters.product(x, "block0.gate_columns");
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 3; ++column) {
      CHECK(at::allclose(scores.select(1, row * 3 + column), rows.select(1, row) + columns.select(1, column)));
    }
  }
}

TEST_CASE("a gate loses least where each expert gets as many tokens, and most where one gets them all") {
  wire::ModelOptions model = with_grid(4, 1);
  model.experts.active = 1;
  model.experts.load_loss = 1;
  model.experts.z_loss = 0;
  const at::Tensor even = at::eye(4, at::TensorOptions(at::kDouble)).repeat({3, 1}) * 30;
  CHECK(gate_loss(model, even, choose_experts(even, 1), 1).item<double>() == doctest::Approx(1));
  at::Tensor one = at::zeros({12, 4}, at::TensorOptions(at::kDouble));
  one.select(1, 2).fill_(30);
  CHECK(gate_loss(model, one, choose_experts(one, 1), 1).item<double>() == doctest::Approx(4));
  // Two samples, each by itself uneven, are not even because they make up for each other.
  const at::Tensor two = at::cat({one, one.roll(1, 1)});
  CHECK(gate_loss(model, two, choose_experts(two, 1), 2).item<double>() == doctest::Approx(8));
  model.experts.load_loss = 0;
  model.experts.z_loss = 0.5;
  CHECK(gate_loss(model, one, choose_experts(one, 1), 1).item<double>() ==
        doctest::Approx(0.5 * std::pow(std::log(3 + std::exp(30.0)), 2)));
}

TEST_CASE("the loss is that of the predictions, and its gradient also that of the gates") {
  wire::ModelOptions options = with_grid(4, 1);
  options.experts.load_loss = 0.3;
  options.experts.z_loss = 0.2;
  wire::ModelOptions careless = options;
  careless.experts.load_loss = careless.experts.z_loss = 0;
  const at::Tensor tokens = at::randint(40, {2, 13}, at::detail::createCPUGenerator(5), at::TensorOptions(at::kLong));
  const Batch batch = {tokens.narrow(1, 0, 12), tokens.narrow(1, 1, 12)};
  Fixture with(options), without(careless);
  const at::Tensor loss = Decoder(options, with.vector, with.gradient).loss(batch);
  const at::Tensor plain = Decoder(careless, without.vector, without.gradient).loss(batch);
  CHECK(loss.item<double>() == doctest::Approx(plain.item<double>()).epsilon(1e-12));
  loss.backward();
  plain.backward();
  for (const wire::ParameterInfo& info : wire::model_layout(options)) {
    const at::Tensor more =
        (with.gradient - without.gradient)
            .narrow(0, static_cast<std::int64_t>(info.offset), static_cast<std::int64_t>(info.count));
    // A gate's losses reach what stands before the gate, and neither experts nor the last norm.
    const bool behind = info.name.starts_with("block0.expert") || info.name.starts_with("final");
    CHECK_MESSAGE((more.abs().max().item<double>() < 1e-12) == behind, info.name);
  }
}
