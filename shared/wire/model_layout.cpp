#include "shared/wire/model_layout.h"

#include <cmath>
#include <utility>

namespace starling::wire {

namespace {

constexpr std::int64_t kMlpFactor = 4;  // width of a block's hidden layer over the model's
// Standard deviation of the initial values of matrices, times the root of the width.
constexpr double kInitialGain = 0.7;

// Uniform values in ±bound have a deviation of bound / sqrt(3).
double initial_bound(const ModelOptions& model) { return kInitialGain * std::sqrt(3.0 / model.width); }

class LayoutBuilder {
 public:
  void matrix(std::string name, std::int64_t rows, std::int64_t columns, double bound) {
    add({std::move(name), {rows, columns}, 0, 0, true, true, bound, 0});
  }
  // From words or positions to the model's width.
  void embedding(std::string name, std::int64_t rows, std::int64_t columns, double bound) {
    add({std::move(name), {rows, columns}, 0, 0, true, false, bound, 0});
  }
  void vector(std::string name, std::int64_t size, float value) {
    add({std::move(name), {size}, 0, 0, false, false, 0, value});
  }
  std::vector<ParameterInfo> take() { return std::move(layout_); }

 private:
  void add(ParameterInfo info) {
    info.offset = next_;
    info.count = 1;
    for (const std::int64_t size : info.shape) info.count *= static_cast<std::size_t>(size);
    next_ += info.count;
    layout_.push_back(std::move(info));
  }

  std::vector<ParameterInfo> layout_;
  std::size_t next_ = 0;
};

void add_block(LayoutBuilder& builder, const ModelOptions& model, int index) {
  const std::int64_t width = model.width;
  const std::string block = "block" + std::to_string(index) + ".";
  const double bound = initial_bound(model);
  // What is added to the residual stream starts smaller, so that its variance does not grow with depth.
  const double residual_bound = bound / std::sqrt(2.0 * model.layers);
  builder.vector(block + "attention_norm.weight", width, 1);
  builder.vector(block + "attention_norm.bias", width, 0);
  // No bias: a key's bias has no effect at all, so its gradient is rounding noise, which Adam would blow up into steps.
  builder.matrix(block + "qkv.weight", 3 * width, width, bound);
  builder.matrix(block + "attention_out.weight", width, width, residual_bound);
  builder.vector(block + "attention_out.bias", width, 0);
  builder.vector(block + "mlp_norm.weight", width, 1);
  builder.vector(block + "mlp_norm.bias", width, 0);
  builder.matrix(block + "mlp_in.weight", kMlpFactor * width, width, bound);
  builder.vector(block + "mlp_in.bias", kMlpFactor * width, 0);
  builder.matrix(block + "mlp_out.weight", width, kMlpFactor * width, residual_bound);
  builder.vector(block + "mlp_out.bias", width, 0);
}

}  // namespace

std::vector<ParameterInfo> model_layout(const ModelOptions& model) {
  LayoutBuilder builder;
  const double bound = initial_bound(model);
  builder.embedding("embedding.weight", model.vocabulary, model.width, bound);  // also the output layer
  builder.embedding("recent.weight", std::int64_t{kRecentBytes} * model.vocabulary, model.width, bound);
  builder.embedding("position.weight", model.context, model.width, bound);
  for (int block = 0; block < model.layers; ++block) add_block(builder, model, block);
  builder.vector("final_norm.weight", model.width, 1);
  builder.vector("final_norm.bias", model.width, 0);
  return builder.take();
}

std::size_t parameter_count(const ModelOptions& model) {
  const std::vector<ParameterInfo> layout = model_layout(model);
  return layout.back().offset + layout.back().count;
}

std::size_t state_size(const RunManifest& manifest) {
  return parameter_count(manifest.model) * (1 + static_cast<std::size_t>(moment_vectors(manifest.optimizer)));
}

double flops_per_sample(const ModelOptions& model) {
  const double width = model.width;
  const double context = model.context;
  const double projections = width * (3 * width + width + 2 * kMlpFactor * width);
  const double attention = 2 * context * width;  // scores and weighted values, over the whole square
  const double multiplications = model.layers * (projections + attention) + width * model.vocabulary;
  return 3 * 2 * multiplications * context;
}

}  // namespace starling::wire
