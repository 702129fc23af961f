// Compares our AdamW and SGD with LibTorch's.
#include <ATen/ATen.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>
// Included after torch, whose CHECK must give way.
#include <doctest/doctest.h>

#include "client/optim/optimizer.h"
#include "shared/base/permutation.h"
#include "shared/run/model_layout.h"
#include "shared/state/initial_state.h"

using namespace starling;

namespace {

wire::RunManifest manifest_with(const wire::OptimizerOptions& optimizer) {
  wire::RunManifest manifest;
  manifest.model.layers = 2;
  manifest.model.width = 32;
  manifest.model.heads = 2;
  manifest.model.context = 16;
  manifest.optimizer = optimizer;
  manifest.schedule.warmup_rounds = 10;
  manifest.schedule.total_rounds = 100;
  return manifest;
}

torch::optim::AdamWOptions torch_options(const wire::OptimizerOptions& options, torch::optim::AdamWOptions theirs) {
  theirs.betas({options.beta1, options.beta2}).eps(options.epsilon).weight_decay(options.weight_decay);
  return theirs;
}

torch::optim::SGDOptions torch_options(const wire::OptimizerOptions& options, torch::optim::SGDOptions theirs) {
  theirs.momentum(options.momentum).nesterov(options.nesterov).weight_decay(options.weight_decay);
  return theirs;
}

// LibTorch's optimizer with one tensor per entry of the layout, in two groups: decayed and not.
template <typename Theirs, typename Options>
class Reference {
 public:
  Reference(const wire::RunManifest& manifest, std::span<const float> parameters)
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
    const Options with_decay = torch_options(manifest.optimizer, Options(1e-3));
    Options without_decay = with_decay;
    without_decay.weight_decay(0);
    const std::vector<torch::optim::OptimizerParamGroup> groups = {{decayed, std::make_unique<Options>(with_decay)},
                                                                   {plain, std::make_unique<Options>(without_decay)}};
    optimizer_ = std::make_unique<Theirs>(groups, with_decay);
  }

  void step(std::span<const float> gradient, double learning_rate) {
    for (std::size_t i = 0; i < layout_.size(); ++i) {
      tensors_[i].mutable_grad() =
          at::from_blob(const_cast<float*>(gradient.data() + layout_[i].offset),
                        {static_cast<std::int64_t>(layout_[i].count)}, at::TensorOptions(at::kFloat))
              .clone();
    }
    for (auto& group : optimizer_->param_groups()) static_cast<Options&>(group.options()).lr(learning_rate);
    optimizer_->step();
  }

  // Length of the difference relative to the length of the values, for the worst tensor.
  [[nodiscard]] double worst_relative_difference(std::span<const float> state) const {
    double worst = 0;
    for (std::size_t entry = 0; entry < layout_.size(); ++entry) {
      const float* theirs = tensors_[entry].template data_ptr<float>();
      double difference = 0, size = 0;
      for (std::size_t i = 0; i < layout_[entry].count; ++i) {
        const double apart = static_cast<double>(state[layout_[entry].offset + i]) - theirs[i];
        difference += apart * apart;
        size += static_cast<double>(theirs[i]) * theirs[i];
      }
      worst = std::max(worst, std::sqrt(difference / size));
    }
    return worst;
  }

 private:
  std::vector<wire::ParameterInfo> layout_;
  std::vector<at::Tensor> tensors_;
  std::unique_ptr<Theirs> optimizer_;
};

float noise(std::uint64_t seed, std::size_t i) {
  return static_cast<float>(static_cast<double>(mix64(mix64(seed) + i) >> 11) * 0x1p-53 - 0.5);
}

// Difference between ours and theirs after `rounds` steps on equal noise, clipped by LibTorch's own means.
template <typename Theirs, typename Options>
double difference_after(RoundIndex rounds, const wire::OptimizerOptions& options) {
  const wire::RunManifest manifest = manifest_with(options);
  const optim::Optimizer optimizer(manifest);
  std::vector<float> state(optimizer.state_size());
  state::fill_initial_state(manifest, state);
  Reference<Theirs, Options> reference(manifest, state);
  const auto journal = std::make_unique<optim::StepJournal>();
  std::vector<float> gradient(optimizer.parameter_count());
  for (RoundIndex round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = noise(static_cast<std::uint64_t>(round), i);
    REQUIRE(optimizer.step(round, gradient, state, *journal).ok());
    if (options.clip_norm > 0) {
      const at::Tensor all =
          at::from_blob(gradient.data(), {static_cast<std::int64_t>(gradient.size())}, at::TensorOptions(at::kFloat));
      all.mul_(std::min(1.0, options.clip_norm / all.to(at::kDouble).norm().item<double>()));
    }
    reference.step(gradient, optimizer.learning_rate(round));
  }
  return reference.worst_relative_difference(state);
}

}  // namespace

TEST_CASE("a hundred steps end where torch.optim.AdamW ends, with clipping and without") {
  wire::OptimizerOptions options = wire::default_optimizer(wire::OptimizerKind::adamw);
  for (const double clip_norm : {0.0, 0.5}) {
    options.clip_norm = clip_norm;
    CHECK(difference_after<torch::optim::AdamW, torch::optim::AdamWOptions>(100, options) < 1e-6);
  }
}

TEST_CASE("a hundred steps end where torch.optim.SGD ends: plain, with momentum, with Nesterov's, with decay") {
  wire::OptimizerOptions options = wire::default_optimizer(wire::OptimizerKind::sgd);
  struct Variant {
    double momentum;
    bool nesterov;
    double weight_decay, clip_norm;
  };
  for (const Variant v : {Variant{0, false, 0, 0}, Variant{0, false, 0.1, 0.5}, Variant{0.9, false, 0, 0},
                          Variant{0.9, false, 0.1, 0}, Variant{0.9, true, 0.1, 0.5}}) {
    CAPTURE(v.momentum);
    CAPTURE(v.nesterov);
    CAPTURE(v.weight_decay);
    options.momentum = v.momentum;
    options.nesterov = v.nesterov;
    options.weight_decay = v.weight_decay;
    options.clip_norm = v.clip_norm;
    CHECK(difference_after<torch::optim::SGD, torch::optim::SGDOptions>(100, options) < 1e-6);
  }
}
