// Checks that hold for every architecture: gradients, the cost of a sample, and learning.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <string>
#include <vector>
// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

#include "client/models/flop_counter.h"
#include "client/models/model.h"
#include "shared/base/words.h"
#include "shared/run/model_layout.h"
#include "tests/support/suite_form.h"

using namespace starling;
using namespace starling::models;

namespace {

constexpr std::int64_t kBatch = 3;

std::vector<wire::ModelOptions> small_models() {
  wire::ModelOptions gpt{.layers = 2, .width = 16, .heads = 2, .context = 12, .vocabulary = 40};
  wire::ModelOptions rotary = gpt;
  rotary.positions = wire::Positions::rotary;
  rotary.activation = wire::Activation::gelu;
  rotary.recent = 0;
  wire::ModelOptions albert{.architecture = wire::Architecture::albert,
                            .layers = 3,
                            .width = 16,
                            .heads = 2,
                            .context = 16,
                            .vocabulary = 30};
  albert.embedding_width = 8;
  albert.mlp_width = 24;
  albert.masked = 0.25;
  wire::ModelOptions decoder{.architecture = wire::Architecture::decoder,
                             .layers = 2,
                             .width = 16,
                             .heads = 4,
                             .context = 12,
                             .vocabulary = 40};
  decoder.mlp_width = 24;
  wire::ModelOptions grouped = decoder;
  grouped.kv_heads = 2;
  grouped.output_layer = wire::OutputLayer::own;
  wire::ModelOptions shallow{.architecture = wire::Architecture::resnet, .layers = 18};
  shallow.image_size = 8;
  shallow.classes = 5;
  wire::ModelOptions deep = shallow;
  deep.layers = 50;
  wire::ModelOptions large = shallow;
  large.image_size = 65;
  large.channels = 1;
  wire::ModelOptions mlp{.architecture = wire::Architecture::mlp, .layers = 2, .width = 12};
  mlp.inputs = 20;
  mlp.classes = 5;
  wire::ModelOptions experts = decoder;
  experts.experts.rows = 4;
  wire::ModelOptions grid = grouped;
  grid.experts.rows = 2;
  grid.experts.columns = 3;
  grid.experts.every = 2;
  grid.experts.active = 3;
  return {gpt, rotary, decoder, grouped, experts, grid, albert, shallow, deep, large, mlp};
}

at::Tensor below(std::int64_t limit, std::vector<std::int64_t> shape, std::uint64_t seed) {
  return at::randint(limit, shape, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kLong));
}

at::Tensor noise(std::vector<std::int64_t> shape, std::uint64_t seed) {
  return at::randn(shape, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kDouble));
}

Batch batch_for(const wire::ModelOptions& model) {
  if (wire::writes_text(model)) {
    const at::Tensor tokens = below(model.vocabulary, {kBatch, model.context + 1}, 1);
    return {tokens.narrow(1, 0, model.context), tokens.narrow(1, 1, model.context)};
  }
  if (model.architecture == wire::Architecture::albert) {
    const std::int64_t masked = wire::masked_tokens(model);
    const at::Tensor rows = (at::arange(kBatch, at::kLong) * model.context).view({-1, 1});
    at::Tensor guesses = below(model.vocabulary, {kBatch, masked}, 2);
    guesses[1][0] = kNoGuess;
    return {below(model.vocabulary, {kBatch, model.context}, 1), below(2, {kBatch, model.context}, 4),
            below(model.context, {kBatch, masked}, 3) + rows, guesses, below(2, {kBatch}, 5)};
  }
  const std::vector<std::int64_t> shape =
      model.architecture == wire::Architecture::mlp
          ? std::vector<std::int64_t>{kBatch, model.inputs}
          : std::vector<std::int64_t>{kBatch, model.channels, model.image_size, model.image_size};
  return {noise(shape, 6), below(model.classes, {kBatch}, 7)};
}

// The model runs in doubles, over vectors of its own, with weights large enough that every path matters.
struct Fixture {
  explicit Fixture(const wire::ModelOptions& options)
      : layout(wire::model_layout(options)),
        parameters(noise({static_cast<std::int64_t>(wire::parameter_count(options))}, 3)),
        gradient(at::zeros_like(parameters)),
        model(make_model(options, parameters, gradient)) {
    for (const wire::ParameterInfo& info : layout) {
      const double deviation = info.decayed ? 1 / std::sqrt(static_cast<double>(info.shape.back())) : 0.3;
      of(parameters, info).mul_(deviation);
      if (info.name.ends_with("norm.weight")) of(parameters, info).add_(1);
    }
  }

  static at::Tensor of(const at::Tensor& vector, const wire::ParameterInfo& info) {
    return vector.narrow(0, static_cast<std::int64_t>(info.offset), static_cast<std::int64_t>(info.count));
  }

  std::vector<wire::ParameterInfo> layout;
  at::Tensor parameters;
  at::Tensor gradient;
  std::unique_ptr<Model> model;
};

std::string title_of(const wire::ModelOptions& model) {
  return std::string(word_of(model.architecture)) + std::to_string(model.layers) + " " +
         std::string(word_of(model.positions)) + " " + std::to_string(model.image_size) + " " +
         std::to_string(model.kv_heads) + " " + std::to_string(model.experts.rows);
}

}  // namespace

TEST_CASE("the gradient of every architecture agrees with finite differences, tensor by tensor") {
  for (wire::ModelOptions options : small_models()) {
    CAPTURE(title_of(options));
    options.experts.load_loss = options.experts.z_loss = 0;  // which are in the gradient alone
    Fixture fixture(options);
    const Batch batch = batch_for(options);
    fixture.model->loss(batch).backward();
    const torch::NoGradGuard no_grad;
    // In a deep one, some of each kind; in the short suite, some of all.
    const std::size_t stride = fixture.layout.size() > 40 ? 7 : starling::testing::times(3, 1);
    for (std::size_t i = 0; i < fixture.layout.size(); i += stride) {
      const wire::ParameterInfo& info = fixture.layout[i];
      // Along the gradient of one tensor the loss must rise by the gradient's length.
      const at::Tensor values = Fixture::of(fixture.parameters, info);
      const at::Tensor direction = Fixture::of(fixture.gradient, info);
      const auto length = direction.norm().item<double>();
      REQUIRE_MESSAGE(length > 1e-6, info.name);
      const double reach = 1e-6;
      const at::Tensor saved = values.clone();
      values.copy_(saved + direction * (reach / length));
      const auto up = fixture.model->loss(batch).item<double>();
      values.copy_(saved - direction * (reach / length));
      const auto down = fixture.model->loss(batch).item<double>();
      values.copy_(saved);
      CHECK_MESSAGE((up - down) / (2 * reach) == doctest::Approx(length).epsilon(1e-3), info.name);
    }
  }
}

TEST_CASE("a sample costs what its architecture says, counted call by call") {
  for (const wire::ModelOptions& options : small_models()) {
    CAPTURE(title_of(options));
    Fixture fixture(options);
    const Batch batch = batch_for(options);
    const FlopCounter counter;
    fixture.model->loss(batch).backward();
    CHECK(counter.flops() / kBatch == doctest::Approx(wire::flops_per_sample(options)).epsilon(1e-9));
  }
}

TEST_CASE("a batch costs the sum of what its samples cost alone, and its gradient is the sum of theirs") {
  for (const wire::ModelOptions& options : small_models()) {
    CAPTURE(title_of(options));
    Fixture fixture(options);
    const Batch batch = batch_for(options);
    const at::Tensor whole = fixture.model->loss(batch);
    whole.backward();
    const at::Tensor gradient = fixture.gradient.clone();
    fixture.gradient.zero_();
    double sum = 0;
    for (std::int64_t sample = 0; sample < kBatch; ++sample) {
      Batch one;
      for (const at::Tensor& tensor : batch) one.push_back(tensor.narrow(0, sample, 1));
      if (options.architecture == wire::Architecture::albert) one[2] = one[2] - sample * options.context;
      const at::Tensor loss = fixture.model->loss(one);
      loss.backward();
      sum += loss.item<double>();
    }
    CHECK(whole.item<double>() == doctest::Approx(sum).epsilon(1e-9));
    CHECK((gradient - fixture.gradient).abs().max().item<double>() < 1e-9);
  }
}
