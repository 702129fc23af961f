#include "tests/bench/bare_gpt.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "shared/wire/model_layout.h"

namespace starling::bench {

namespace {

namespace nn = torch::nn;

struct BlockImpl : nn::Module {
  explicit BlockImpl(const wire::ModelOptions& model)
      : heads(model.heads),
        attention_norm(register_module("attention_norm", nn::LayerNorm(nn::LayerNormOptions({model.width})))),
        qkv(register_module("qkv", nn::Linear(nn::LinearOptions(model.width, 3 * model.width).bias(false)))),
        attention_out(register_module("attention_out", nn::Linear(model.width, model.width))),
        mlp_norm(register_module("mlp_norm", nn::LayerNorm(nn::LayerNormOptions({model.width})))),
        mlp_in(register_module("mlp_in", nn::Linear(model.width, 4 * model.width))),
        mlp_out(register_module("mlp_out", nn::Linear(4 * model.width, model.width))),
        future(register_buffer("future", torch::ones({model.context, model.context}, torch::kBool).triu(1))) {}

  torch::Tensor attend(const torch::Tensor& x) {
    const auto batch = x.size(0), length = x.size(1), width = x.size(2);
    const auto parts = qkv(x).view({batch, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
    const auto scores = (torch::matmul(parts[0], parts[1].transpose(-2, -1)) * scale)
                            .masked_fill(future, -std::numeric_limits<float>::infinity());
    return attention_out(torch::matmul(torch::softmax(scores, -1), parts[2]).transpose(1, 2).reshape(x.sizes()));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = x + attend(attention_norm(x));
    return x + mlp_out(torch::relu(mlp_in(mlp_norm(x))).square());
  }

  int heads;
  nn::LayerNorm attention_norm;
  nn::Linear qkv, attention_out;
  nn::LayerNorm mlp_norm;
  nn::Linear mlp_in, mlp_out;
  torch::Tensor future;
};
TORCH_MODULE(Block);

struct BareGptImpl : nn::Module {
  explicit BareGptImpl(const wire::ModelOptions& model)
      : embedding(register_module("embedding", nn::Embedding(model.vocabulary, model.width))),
        recent(register_module("recent", nn::ModuleList())),
        position(register_parameter("position", torch::randn({model.context, model.width}) * 0.02)),
        blocks(register_module("blocks", nn::Sequential())),
        final_norm(register_module("final_norm", nn::LayerNorm(nn::LayerNormOptions({model.width})))) {
    for (int back = 0; back < model.recent; ++back) {
      recent->push_back(nn::Embedding(model.vocabulary, model.width));
    }
    for (int layer = 0; layer < model.layers; ++layer) blocks->push_back(Block(model));
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    torch::Tensor x = embedding(tokens) + position;
    for (std::int64_t back = 1; back <= static_cast<std::int64_t>(recent->size()); ++back) {
      const torch::Tensor padded =
          nn::functional::pad(recent[static_cast<std::size_t>(back - 1)]->as<nn::Embedding>()->forward(tokens),
                              nn::functional::PadFuncOptions({0, 0, back, 0}));
      x = x + padded.narrow(1, 0, tokens.size(1));
    }
    x = blocks->forward(x);
    return torch::matmul(final_norm(x), embedding->weight.t());
  }

  std::vector<torch::Tensor> in_layout_order() {
    std::vector<torch::Tensor> tensors = embedding->parameters();
    const auto append = [&tensors](const std::vector<torch::Tensor>& more) {
      tensors.insert(tensors.end(), more.begin(), more.end());
    };
    append(recent->parameters());
    append({position});
    append(blocks->parameters());
    append(final_norm->parameters());
    return tensors;
  }

  nn::Embedding embedding;
  nn::ModuleList recent;
  torch::Tensor position;
  nn::Sequential blocks;
  nn::LayerNorm final_norm;
};
TORCH_MODULE(BareGpt);

}  // namespace

struct BareLoop::Impl {
  explicit Impl(const wire::RunManifest& m)
      : manifest(m), model(m.model), optimizer(model->parameters(), torch::optim::AdamWOptions(1e-3)) {}

  wire::RunManifest manifest;
  BareGpt model;
  torch::optim::AdamW optimizer;
};

BareLoop::BareLoop(const wire::RunManifest& manifest) : impl_(std::make_unique<Impl>(manifest)) {}
BareLoop::~BareLoop() = default;

void BareLoop::load(std::span<const float> parameters) {
  const torch::NoGradGuard no_grad;
  std::size_t next = 0;
  for (torch::Tensor& tensor : impl_->model->in_layout_order()) {
    const auto count = static_cast<std::size_t>(tensor.numel());
    const std::span<const float> values = parameters.subspan(next, count);
    tensor.copy_(torch::from_blob(const_cast<float*>(values.data()), tensor.sizes(), torch::kFloat));
    next += count;
  }
  TORCH_CHECK(next == parameters.size(), "the bare model has ", next, " parameters, not ", parameters.size());
}

double BareLoop::backward(std::span<const std::uint8_t> text, std::span<const std::int64_t> starts) {
  const std::int64_t context = impl_->manifest.model.context;
  const auto samples = static_cast<std::int64_t>(starts.size());
  const torch::Tensor windows = torch::empty({samples, context + 1}, torch::kLong);
  auto* next = windows.data_ptr<std::int64_t>();
  for (const std::int64_t start : starts) {
    next = std::copy(text.data() + start, text.data() + start + context + 1, next);
  }
  const torch::Tensor scores = impl_->model->forward(windows.narrow(1, 0, context));
  const torch::Tensor targets = windows.narrow(1, 1, context).reshape({-1});
  const torch::Tensor loss = nn::functional::cross_entropy(scores.view({samples * context, -1}), targets);
  loss.backward();
  return loss.item<double>();
}

void BareLoop::step() {
  nn::utils::clip_grad_norm_(impl_->model->parameters(), impl_->manifest.optimizer.clip_norm);
  impl_->optimizer.step();
  impl_->optimizer.zero_grad();
}

}  // namespace starling::bench
