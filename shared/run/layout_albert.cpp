#include <algorithm>
#include <cmath>

#include "shared/run/layouts.h"

namespace starling::wire {
namespace {

// Deviations of initial values: the published ones for a width of 768, and larger ones for narrower models, in the
// ratio in which their sums are shorter.
constexpr double kEmbeddingDeviation = 0.02;
constexpr double kMatrixDeviation = 0.554;  // times 1 / sqrt(width)

}  // namespace

int masked_tokens(const ModelOptions& model) {
  return std::max(1, static_cast<int>(std::lround(model.masked * model.context)));
}

std::vector<ParameterInfo> albert_layout(const ModelOptions& model) {
  LayoutBuilder builder;
  const double bound = uniform_bound(kMatrixDeviation / std::sqrt(static_cast<double>(model.width)));
  const double embedding_bound = uniform_bound(kEmbeddingDeviation);
  const auto norm = [&builder](const std::string& name, std::int64_t size) {
    builder.vector(name + ".weight", size, 1);
    builder.vector(name + ".bias", size, 0);
  };
  const auto linear = [&builder, bound](const std::string& name, std::int64_t rows, std::int64_t columns) {
    builder.matrix(name + ".weight", rows, columns, bound);
    builder.vector(name + ".bias", rows, 0);
  };
  builder.embedding("embedding.weight", model.vocabulary, model.embedding_width,
                    embedding_bound);  // also the output layer
  builder.embedding("position.weight", model.context, model.embedding_width, embedding_bound);
  builder.embedding("segment.weight", 2, model.embedding_width, embedding_bound);
  norm("embedding_norm", model.embedding_width);
  linear("widen", model.width, model.embedding_width);
  builder.matrix("qkv.weight", 3 * std::int64_t{model.width}, model.width, bound);  // without bias, like in a gpt
  linear("attention_out", model.width, model.width);
  norm("attention_norm", model.width);
  linear("mlp_in", model.mlp_width, model.width);
  linear("mlp_out", model.width, model.mlp_width);
  norm("mlp_norm", model.width);
  linear("guess", model.embedding_width, model.width);
  norm("guess_norm", model.embedding_width);
  builder.vector("guess_out.bias", model.vocabulary, 0);
  linear("pooler", model.width, model.width);
  builder.embedding("order.weight", 2, model.width, bound);
  builder.vector("order.bias", 2, 0);
  return builder.take();
}

double albert_flops(const ModelOptions& model) {
  const double width = model.width, embedding = model.embedding_width, context = model.context;
  const double block = width * (4 * width + 2 * static_cast<double>(model.mlp_width)) + 2 * context * width;
  const double guesses = masked_tokens(model) * embedding * (width + model.vocabulary);
  return flops_of(context * (embedding * width + model.layers * block) + guesses + width * (width + 2));
}

double albert_activations(const ModelOptions& model) {
  const double width = model.width, context = model.context, embedding = model.embedding_width;
  // Queries, keys and values, once more by heads; the heads' outputs; two sums and two norms; the perceptron twice.
  const double block = (3 + 3 + 1 + 4) * width + 2 * static_cast<double>(model.mlp_width) + model.heads * context;
  const double guesses = masked_tokens(model) * (3 * embedding + 2 * static_cast<double>(model.vocabulary));
  return context * (model.layers * block + 2 * embedding + width) + guesses;
}

}  // namespace starling::wire
