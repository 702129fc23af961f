#include "shared/run/layouts.h"

namespace starling::wire {
namespace {

constexpr std::int64_t kMlpFactor = 4;  // width of a block's hidden layer over the model's

void add_block(LayoutBuilder& builder, const ModelOptions& model, int index) {
  const std::int64_t width = model.width;
  const std::string block = "block" + std::to_string(index) + ".";
  const double bound = pre_norm_bound(model);
  builder.vector(block + "attention_norm.weight", width, 1);
  builder.vector(block + "attention_norm.bias", width, 0);
  // No bias: a key's bias has no effect at all, so its gradient is rounding noise, which Adam would blow up into steps.
  builder.matrix(block + "qkv.weight", 3 * width, width, bound);
  builder.matrix(block + "attention_out.weight", width, width, residual_bound(model));
  builder.vector(block + "attention_out.bias", width, 0);
  builder.vector(block + "mlp_norm.weight", width, 1);
  builder.vector(block + "mlp_norm.bias", width, 0);
  builder.matrix(block + "mlp_in.weight", kMlpFactor * width, width, bound);
  builder.vector(block + "mlp_in.bias", kMlpFactor * width, 0);
  builder.matrix(block + "mlp_out.weight", width, kMlpFactor * width, residual_bound(model));
  builder.vector(block + "mlp_out.bias", width, 0);
}

}  // namespace

std::vector<ParameterInfo> gpt_layout(const ModelOptions& model) {
  LayoutBuilder builder;
  const double bound = pre_norm_bound(model);
  builder.embedding("embedding.weight", model.vocabulary, model.width, bound);  // also the output layer
  if (model.recent > 0) {
    builder.embedding("recent.weight", std::int64_t{model.recent} * model.vocabulary, model.width, bound);
  }
  if (model.positions == Positions::learned) builder.embedding("position.weight", model.context, model.width, bound);
  for (int block = 0; block < model.layers; ++block) add_block(builder, model, block);
  builder.vector("final_norm.weight", model.width, 1);
  builder.vector("final_norm.bias", model.width, 0);
  return builder.take();
}

double gpt_flops(const ModelOptions& model) {
  const double width = model.width;
  const double context = model.context;
  const double projections = width * (3 * width + width + 2 * kMlpFactor * width);
  const double attention = 2 * context * width;  // scores and weighted values, over the whole square
  return flops_of((model.layers * (projections + attention) + width * model.vocabulary) * context);
}

double gpt_activations(const ModelOptions& model) {
  const double width = model.width, context = model.context;
  // Both norms, queries, keys and values, attention's output, two sums, and the perceptron before and after.
  const double block =
      (7 + (model.activation == Activation::relu2 ? 3.0 : 2.0) * kMlpFactor) * width + model.heads * context;
  constexpr double kOfScores = 2;  // the scores and their logarithms of probabilities
  return context * (model.layers * block + 2 * width + kOfScores * model.vocabulary);
}

}  // namespace starling::wire
