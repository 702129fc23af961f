#include "tests/bench/bare_models.h"

#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <vector>

#include "shared/run/model_layout.h"

namespace starling::bench {

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

nn::LayerNorm norm_of(int width, double epsilon = 1e-5) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(epsilon));
}

nn::Linear linear_without_bias(int in, int out) { return nn::Linear(nn::LinearOptions(in, out).bias(false)); }

// `future`: mask of the positions that a position must not see; undefined: it sees all.
torch::Tensor attend(const torch::Tensor& qkv, int heads, const torch::Tensor& future) {
  const auto batch = qkv.size(0), length = qkv.size(1), width = qkv.size(2) / 3;
  const auto parts = qkv.view({batch, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  auto scores = torch::matmul(parts[0], parts[1].transpose(-2, -1)) * scale;
  if (future.defined()) scores = scores.masked_fill(future, -std::numeric_limits<float>::infinity());
  return torch::matmul(torch::softmax(scores, -1), parts[2]).transpose(1, 2).reshape({batch, length, width});
}

struct BareModel : nn::Module {
  // Mean loss over the batch's samples.
  virtual torch::Tensor loss(const models::Batch& batch) = 0;
  // Parameters in the order of wire::model_layout, which is that of registration unless overridden.
  virtual std::vector<torch::Tensor> in_layout_order() { return parameters(); }
};

struct BlockImpl : nn::Module {
  explicit BlockImpl(const wire::ModelOptions& model)
      : heads(model.heads),
        attention_norm(register_module("attention_norm", norm_of(model.width))),
        qkv(register_module("qkv", linear_without_bias(model.width, 3 * model.width))),
        attention_out(register_module("attention_out", nn::Linear(model.width, model.width))),
        mlp_norm(register_module("mlp_norm", norm_of(model.width))),
        mlp_in(register_module("mlp_in", nn::Linear(model.width, 4 * model.width))),
        mlp_out(register_module("mlp_out", nn::Linear(4 * model.width, model.width))),
        future(register_buffer("future", torch::ones({model.context, model.context}, torch::kBool).triu(1))) {}

  torch::Tensor forward(torch::Tensor x) {
    x = x + attention_out(attend(qkv(attention_norm(x)), heads, future));
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

struct BareGpt final : BareModel {
  explicit BareGpt(const wire::ModelOptions& model)
      : embedding(register_module("embedding", nn::Embedding(model.vocabulary, model.width))),
        recent(register_module("recent", nn::ModuleList())),
        position(register_parameter("position", torch::randn({model.context, model.width}) * 0.02)),
        blocks(register_module("blocks", nn::Sequential())),
        final_norm(register_module("final_norm", norm_of(model.width))) {
    for (int back = 0; back < model.recent; ++back) recent->push_back(nn::Embedding(model.vocabulary, model.width));
    for (int layer = 0; layer < model.layers; ++layer) blocks->push_back(Block(model));
  }

  torch::Tensor loss(const models::Batch& batch) override {
    const torch::Tensor& tokens = batch.at(0);
    torch::Tensor x = embedding(tokens) + position;
    for (std::int64_t back = 1; back <= static_cast<std::int64_t>(recent->size()); ++back) {
      const torch::Tensor earlier = recent[static_cast<std::size_t>(back - 1)]->as<nn::Embedding>()->forward(tokens);
      x = x + F::pad(earlier, F::PadFuncOptions({0, 0, back, 0})).narrow(1, 0, tokens.size(1));
    }
    const torch::Tensor scores = torch::matmul(final_norm(blocks->forward(x)), embedding->weight.t());
    return F::cross_entropy(scores.view({tokens.numel(), -1}), batch.at(1).reshape({-1}));
  }

  std::vector<torch::Tensor> in_layout_order() override {
    std::vector<torch::Tensor> tensors = embedding->parameters();
    for (const auto& more :
         {recent->parameters(), std::vector{position}, blocks->parameters(), final_norm->parameters()}) {
      tensors.insert(tensors.end(), more.begin(), more.end());
    }
    return tensors;
  }

  nn::Embedding embedding;
  nn::ModuleList recent;
  torch::Tensor position;
  nn::Sequential blocks;
  nn::LayerNorm final_norm;
};

struct BareAlbert final : BareModel {
  static constexpr double kEpsilon = 1e-12;

  explicit BareAlbert(const wire::ModelOptions& model)
      : layers(model.layers),
        heads(model.heads),
        embedding(register_module("embedding", nn::Embedding(model.vocabulary, model.embedding_width))),
        position(register_module("position", nn::Embedding(model.context, model.embedding_width))),
        segment(register_module("segment", nn::Embedding(2, model.embedding_width))),
        embedding_norm(register_module("embedding_norm", norm_of(model.embedding_width, kEpsilon))),
        widen(register_module("widen", nn::Linear(model.embedding_width, model.width))),
        qkv(register_module("qkv", linear_without_bias(model.width, 3 * model.width))),
        attention_out(register_module("attention_out", nn::Linear(model.width, model.width))),
        attention_norm(register_module("attention_norm", norm_of(model.width, kEpsilon))),
        mlp_in(register_module("mlp_in", nn::Linear(model.width, model.mlp_width))),
        mlp_out(register_module("mlp_out", nn::Linear(model.mlp_width, model.width))),
        mlp_norm(register_module("mlp_norm", norm_of(model.width, kEpsilon))),
        guess(register_module("guess", nn::Linear(model.width, model.embedding_width))),
        guess_norm(register_module("guess_norm", norm_of(model.embedding_width, kEpsilon))),
        guess_bias(torch::zeros({model.vocabulary})),
        pooler(register_module("pooler", nn::Linear(model.width, model.width))),
        order(register_module("order", nn::Linear(model.width, 2))) {
    register_parameter("guess_bias", guess_bias.requires_grad_(true));
  }

  torch::Tensor encode(const models::Batch& batch) {
    const auto places = torch::arange(batch.at(0).size(1));
    torch::Tensor x = widen(embedding_norm(embedding(batch.at(0)) + segment(batch.at(1)) + position(places)));
    for (int layer = 0; layer < layers; ++layer) {
      x = attention_norm(x + attention_out(attend(qkv(x), heads, {})));
      x = mlp_norm(x + mlp_out(F::gelu(mlp_in(x), F::GELUFuncOptions().approximate("tanh"))));
    }
    return x;
  }

  torch::Tensor loss(const models::Batch& batch) override {
    const torch::Tensor x = encode(batch), &tokens = batch.at(3);
    const torch::Tensor hidden = guess(x.flatten(0, 1).index_select(0, batch.at(2).reshape({-1})));
    const torch::Tensor scores =
        F::linear(guess_norm(F::gelu(hidden, F::GELUFuncOptions().approximate("tanh"))), embedding->weight, guess_bias);
    const torch::Tensor nats =
        F::cross_entropy(scores, tokens.reshape({-1}),
                         F::CrossEntropyFuncOptions().ignore_index(models::kNoGuess).reduction(torch::kNone));
    const torch::Tensor guesses = (tokens != models::kNoGuess).sum(1).clamp_min(1);
    const torch::Tensor pooled = torch::tanh(pooler(x.select(1, 0)));
    return (nats.view(tokens.sizes()).sum(1) / guesses).mean() + F::cross_entropy(order(pooled), batch.at(4));
  }

  std::vector<torch::Tensor> in_layout_order() override {
    std::vector<torch::Tensor> tensors{embedding->weight, position->weight, segment->weight};
    const auto append = [&tensors](const nn::Module& module) {
      for (const torch::Tensor& tensor : module.parameters()) tensors.push_back(tensor);
    };
    for (const nn::Module* module : std::initializer_list<const nn::Module*>{
             embedding_norm.get(), widen.get(), qkv.get(), attention_out.get(), attention_norm.get(), mlp_in.get(),
             mlp_out.get(), mlp_norm.get(), guess.get(), guess_norm.get()}) {
      append(*module);
    }
    tensors.push_back(guess_bias);
    append(*pooler);
    append(*order);
    return tensors;
  }

  int layers, heads;
  nn::Embedding embedding, position, segment;
  nn::LayerNorm embedding_norm;
  nn::Linear widen, qkv, attention_out;
  nn::LayerNorm attention_norm;
  nn::Linear mlp_in, mlp_out;
  nn::LayerNorm mlp_norm;
  nn::Linear guess;
  nn::LayerNorm guess_norm;
  torch::Tensor guess_bias;
  nn::Linear pooler, order;
};

struct ConvolutionImpl : nn::Module {
  explicit ConvolutionImpl(const wire::Convolution& wanted)
      : convolution(register_module("convolution", nn::Conv2d(nn::Conv2dOptions(wanted.in, wanted.out, wanted.kernel)
                                                                  .stride(wanted.stride)
                                                                  .padding(wanted.kernel / 2)
                                                                  .bias(false)))),
        norm(register_module("norm", nn::GroupNorm(32, wanted.out))) {}

  torch::Tensor forward(const torch::Tensor& x) { return norm(convolution(x)); }

  nn::Conv2d convolution;
  nn::GroupNorm norm;
};
TORCH_MODULE(Convolution);

// A network of 18 layers; its first convolution keeps the size of the images.
struct BareResnet final : BareModel {
  explicit BareResnet(const wire::ModelOptions& model) : all(register_module("all", nn::ModuleList())) {
    for (const wire::Convolution& convolution : wire::resnet_convolutions(model)) {
      all->push_back(Convolution(convolution));
      shortens.push_back(convolution.name.ends_with(".shortcut"));
      out = convolution.out;
    }
    classes = register_module("classes", nn::Linear(out, model.classes));
  }

  torch::Tensor apply(std::size_t which, const torch::Tensor& x) { return all[which]->as<Convolution>()->forward(x); }

  torch::Tensor loss(const models::Batch& batch) override {
    torch::Tensor x = torch::relu(apply(0, batch.at(0)));
    for (std::size_t at = 1; at < all->size();) {
      const torch::Tensor inner = apply(at + 1, torch::relu(apply(at, x)));
      const bool shortened = at + 2 < all->size() && shortens[at + 2];
      x = torch::relu(inner + (shortened ? apply(at + 2, x) : x));
      at += shortened ? 3 : 2;
    }
    return F::cross_entropy(classes(x.mean({2, 3})), batch.at(1));
  }

  nn::ModuleList all;
  std::vector<bool> shortens;  // whether the convolution is a block's shortcut, by convolution
  int out = 0;
  nn::Linear classes{nullptr};
};

std::shared_ptr<BareModel> make(const wire::ModelOptions& model) {
  if (model.architecture == wire::Architecture::albert) return std::make_shared<BareAlbert>(model);
  if (model.architecture == wire::Architecture::resnet) return std::make_shared<BareResnet>(model);
  return std::make_shared<BareGpt>(model);
}

}  // namespace

struct BareLoop::Impl {
  explicit Impl(const wire::RunManifest& m)
      : manifest(m), model(make(m.model)), optimizer(model->parameters(), torch::optim::AdamWOptions(1e-3)) {}

  wire::RunManifest manifest;
  std::shared_ptr<BareModel> model;
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

double BareLoop::backward(const models::Batch& batch) {
  const torch::Tensor loss = impl_->model->loss(batch);
  loss.backward();
  return loss.item<double>();
}

void BareLoop::step() {
  nn::utils::clip_grad_norm_(impl_->model->parameters(), impl_->manifest.optimizer.clip_norm);
  impl_->optimizer.step();
  impl_->optimizer.zero_grad();
}

}  // namespace starling::bench
