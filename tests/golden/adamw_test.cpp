// Our AdamW beside LibTorch's own.
#include <ATen/ATen.h>
#include <torch/optim/adamw.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>
// After torch, whose CHECK must give way.
#include <doctest/doctest.h>

#include "client/optim/initial_state.h"
#include "client/optim/optimizer.h"
#include "shared/base/permutation.h"
#include "shared/wire/model_layout.h"

using namespace starling;

namespace {

wire::RunManifest manifest_with(double clip_norm) {
  wire::RunManifest manifest;
  manifest.model.layers = 2;
  manifest.model.width = 32;
  manifest.model.heads = 2;
  manifest.model.context = 16;
  manifest.optimizer.clip_norm = clip_norm;
  manifest.schedule.warmup_rounds = 10;
  manifest.schedule.total_rounds = 100;
  return manifest;
}

// LibTorch's optimizer with one tensor per entry of the layout, in two groups: decayed and not.
class TorchAdamW {
 public:
  TorchAdamW(const wire::RunManifest& manifest, std::span<const float> parameters)
      : layout_(wire::model_layout(manifest.model)) {
    std::vector<at::Tensor> decayed, plain;
    for (const auto& info : layout_) {
      const at::Tensor tensor = at::from_blob(const_cast<float*>(parameters.data() + info.offset),
                                              {static_cast<std::int64_t>(info.count)}, at::TensorOptions(at::kFloat))
                                    .clone()
                                    .requires_grad_(true);
      tensors_.push_back(tensor);
      (info.decayed ? decayed : plain).push_back(tensor);
    }
    const auto& options = manifest.optimizer;
    torch::optim::AdamWOptions with_decay;
    with_decay.betas({options.beta1, options.beta2}).eps(options.epsilon).weight_decay(options.weight_decay);
    torch::optim::AdamWOptions without_decay = with_decay;
    without_decay.weight_decay(0);
    const std::vector<torch::optim::OptimizerParamGroup> groups = {
        {decayed, std::make_unique<torch::optim::AdamWOptions>(with_decay)},
        {plain, std::make_unique<torch::optim::AdamWOptions>(without_decay)}};
    optimizer_ = std::make_unique<torch::optim::AdamW>(groups, with_decay);
  }

  void step(std::span<const float> gradient, double learning_rate) {
    for (std::size_t i = 0; i < layout_.size(); ++i) {
      tensors_[i].mutable_grad() =
          at::from_blob(const_cast<float*>(gradient.data() + layout_[i].offset),
                        {static_cast<std::int64_t>(layout_[i].count)}, at::TensorOptions(at::kFloat))
              .clone();
    }
    for (auto& group : optimizer_->param_groups()) {
      static_cast<torch::optim::AdamWOptions&>(group.options()).lr(learning_rate);
    }
    optimizer_->step();
  }

  [[nodiscard]] float at(std::size_t entry, std::size_t i) const { return tensors_[entry].data_ptr<float>()[i]; }

 private:
  std::vector<wire::ParameterInfo> layout_;
  std::vector<at::Tensor> tensors_;
  std::unique_ptr<torch::optim::AdamW> optimizer_;
};

// Length of the difference over the length of the values, for the tensor where it is worst.
double worst_relative_difference(const wire::RunManifest& manifest, std::span<const float> state,
                                 const TorchAdamW& reference) {
  const auto layout = wire::model_layout(manifest.model);
  double worst = 0;
  for (std::size_t entry = 0; entry < layout.size(); ++entry) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < layout[entry].count; ++i) {
      const double ours = state[layout[entry].offset + i];
      const double theirs = reference.at(entry, i);
      difference += (ours - theirs) * (ours - theirs);
      size += theirs * theirs;
    }
    worst = std::max(worst, std::sqrt(difference / size));
  }
  return worst;
}

float noise(std::uint64_t seed, std::size_t i) {
  return static_cast<float>(static_cast<double>(mix64(mix64(seed) + i) >> 11) * 0x1p-53 - 0.5);
}

}  // namespace

TEST_CASE("a hundred steps end where torch.optim.AdamW ends") {
  const wire::RunManifest manifest = manifest_with(0);
  const optim::Optimizer optimizer(manifest);
  std::vector<float> state(optimizer.state_size());
  optim::fill_initial_state(manifest, state);
  TorchAdamW reference(manifest, state);
  const auto journal = std::make_unique<optim::StepJournal>();
  std::vector<float> gradient(optimizer.parameter_count());
  for (RoundIndex round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = noise(static_cast<std::uint64_t>(round), i);
    REQUIRE(optimizer.step(round, gradient, state, *journal).ok());
    reference.step(gradient, optimizer.learning_rate(round));
  }
  CHECK(worst_relative_difference(manifest, state, reference) < 1e-6);
}

TEST_CASE("clipping scales the gradient as clip_grad_norm does") {
  const wire::RunManifest manifest = manifest_with(0.5);
  const optim::Optimizer optimizer(manifest);
  std::vector<float> state(optimizer.state_size());
  optim::fill_initial_state(manifest, state);
  TorchAdamW reference(manifest, state);
  const auto journal = std::make_unique<optim::StepJournal>();
  std::vector<float> gradient(optimizer.parameter_count());
  for (RoundIndex round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = noise(static_cast<std::uint64_t>(round), i);
    REQUIRE(optimizer.step(round, gradient, state, *journal).ok());
    const at::Tensor all =
        at::from_blob(gradient.data(), {static_cast<std::int64_t>(gradient.size())}, at::TensorOptions(at::kFloat));
    all.mul_(0.5 / all.to(at::kDouble).norm().item<double>());
    reference.step(gradient, optimizer.learning_rate(round));
  }
  CHECK(worst_relative_difference(manifest, state, reference) < 1e-6);
}
