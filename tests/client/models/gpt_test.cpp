#include "client/models/gpt.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

#include "shared/run/model_layout.h"

using namespace starling;
using namespace starling::models;

namespace {

wire::ModelOptions tiny() {
  wire::ModelOptions model;
  model.layers = 2;
  model.width = 16;
  model.heads = 2;
  model.context = 12;
  return model;
}

// A model over vectors of its own, with weights large enough that every path matters.
struct Fixture {
  explicit Fixture(const wire::ModelOptions& options)
      : parameters(at::randn({static_cast<std::int64_t>(wire::parameter_count(options))},
                             at::detail::createCPUGenerator(3), at::TensorOptions(at::kFloat))
                       .mul_(0.2)),
        gradient(at::zeros_like(parameters)),
        model(options, parameters, gradient) {}

  at::Tensor parameters;
  at::Tensor gradient;
  Gpt model;
};

at::Tensor bytes(std::int64_t batch, std::int64_t length, std::uint64_t seed) {
  return at::randint(256, {batch, length}, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kLong));
}

}  // namespace

TEST_CASE("the gradient agrees with finite differences for every parameter tensor") {
  Fixture fixture(tiny());
  const at::Tensor tokens = bytes(2, 12, 1);
  const at::Tensor targets = bytes(2, 12, 2);
  fixture.model.loss({tokens, targets}).backward();
  const torch::NoGradGuard no_grad;
  for (const wire::ParameterInfo& info : wire::model_layout(tiny())) {
    // Along the gradient of one tensor the loss must rise by the gradient's length.
    const auto offset = static_cast<std::int64_t>(info.offset);
    const auto count = static_cast<std::int64_t>(info.count);
    const at::Tensor values = fixture.parameters.narrow(0, offset, count);
    const at::Tensor direction = fixture.gradient.narrow(0, offset, count);
    const auto length = direction.norm().item<double>();
    REQUIRE(length > 1e-3);
    const double reach = 2e-2;
    const at::Tensor saved = values.clone();
    values.copy_(saved + direction * (reach / length));
    const auto up = fixture.model.loss({tokens, targets}).item<double>();
    values.copy_(saved - direction * (reach / length));
    const auto down = fixture.model.loss({tokens, targets}).item<double>();
    values.copy_(saved);
    CHECK_MESSAGE((up - down) / (2 * reach) == doctest::Approx(length).epsilon(0.02), info.name);
  }
}

TEST_CASE("a model without knowledge pays eight bits for a byte") {
  Fixture fixture(tiny());
  fixture.parameters.zero_();
  const at::Tensor loss = fixture.model.loss({bytes(3, 12, 1), bytes(3, 12, 2)});
  CHECK(loss.item<double>() / 3 == doctest::Approx(std::log(256.0)));
}

TEST_CASE("a byte's scores do not depend on the bytes after it") {
  Fixture fixture(tiny());
  const at::Tensor tokens = bytes(1, 12, 1);
  const at::Tensor changed = tokens.clone();
  changed.narrow(1, 7, 5).fill_(0);
  const at::Tensor before = fixture.model.next_token_scores(tokens);
  const at::Tensor after = fixture.model.next_token_scores(changed);
  CHECK(at::allclose(before.narrow(0, 0, 7), after.narrow(0, 0, 7), 1e-5, 1e-6));
  CHECK(!at::allclose(before.narrow(0, 7, 5), after.narrow(0, 7, 5), 1e-5, 1e-6));
}

TEST_CASE("a text shorter than the context can be scored") {
  Fixture fixture(tiny());
  CHECK(fixture.model.next_token_scores(bytes(1, 5, 1)).size(0) == 5);
}
