#include "shared/run/cells.h"
#include "shared/run/layouts.h"

namespace starling::wire {
namespace {

// Columns of queries, keys and values, side by side.
std::int64_t packed_width(const ModelOptions& model) {
  return std::int64_t{model.heads + 2 * kv_heads(model)} * (model.width / model.heads);
}

void add_perceptron(LayoutBuilder& builder, const ModelOptions& model, const std::string& name) {
  const std::int64_t width = model.width, hidden = model.mlp_width;
  // The gate's rows come first, then as many others.
  builder.matrix(name + "mlp_in.weight", 2 * hidden, width, pre_norm_bound(model));
  builder.matrix(name + "mlp_out.weight", width, hidden, residual_bound(model));
}

void add_block(LayoutBuilder& builder, const ModelOptions& model, int index) {
  const std::int64_t width = model.width;
  const std::string block = "block" + std::to_string(index) + ".";
  builder.vector(block + "attention_norm.weight", width, 1);
  builder.matrix(block + "qkv.weight", packed_width(model), width, pre_norm_bound(model));
  builder.matrix(block + "attention_out.weight", width, width, residual_bound(model));
  builder.vector(block + "mlp_norm.weight", width, 1);
  if (!has_experts(model, index)) return add_perceptron(builder, model, block);
  builder.embedding(block + "gate_rows.weight", model.experts.rows, width, pre_norm_bound(model));
  if (model.experts.columns > 1) {
    builder.embedding(block + "gate_columns.weight", model.experts.columns, width, pre_norm_bound(model));
  }
}

// Operations of a cell's experts over those of the whole model's: a third of them are made again.
constexpr double kServedAgain = 4.0 / 3;

// A sample's tokens that go through the experts of a cell, each as often as it has experts there, if all get as many.
double units_per_sample(const ModelOptions& model) {
  const Cell cell = cells_of(model).at(static_cast<std::size_t>(model.experts.piece));
  return static_cast<double>(model.context) * model.experts.active * cell.experts / experts_in_layer(model);
}

}  // namespace

int experts_in_layer(const ModelOptions& model) { return model.experts.rows * model.experts.columns; }

bool has_experts(const ModelOptions& model, int layer) {
  return model.experts.rows > 0 && (layer + 1) % model.experts.every == 0;
}

std::string expert_name(int layer, int expert) {
  return "block" + std::to_string(layer) + ".expert" + std::to_string(expert) + ".";
}

int kv_heads(const ModelOptions& model) { return model.kv_heads > 0 ? model.kv_heads : model.heads; }

std::vector<ParameterInfo> decoder_layout(const ModelOptions& model) {
  LayoutBuilder builder;
  builder.embedding("embedding.weight", model.vocabulary, model.width, pre_norm_bound(model));
  for (int block = 0; block < model.layers; ++block) add_block(builder, model, block);
  builder.vector("final_norm.weight", model.width, 1);
  if (model.output_layer == OutputLayer::own) {
    builder.embedding("output.weight", model.vocabulary, model.width, pre_norm_bound(model));
  }
  // Experts come last, one behind the other, so that each is a stretch of the vector.
  for (int block = 0; block < model.layers; ++block) {
    for (int expert = 0; has_experts(model, block) && expert < experts_in_layer(model); ++expert) {
      add_perceptron(builder, model, expert_name(block, expert));
    }
  }
  return builder.take();
}

double decoder_flops(const ModelOptions& model) {
  const double width = model.width, context = model.context;
  const double projections = width * (static_cast<double>(packed_width(model)) + width);
  const double attention = 2 * context * width;  // scores and weighted values, over the whole square
  const double perceptron = 3 * width * model.mlp_width;
  if (model.experts.piece >= 0) return kServedAgain * flops_of(perceptron * units_per_sample(model));
  if (model.experts.piece == kNoPiece) return 0;
  const double gate = width * (model.experts.rows + (model.experts.columns > 1 ? model.experts.columns : 0));
  const int mixed = static_cast<int>(layers_with_experts(model).size());
  const double mixture = model.experts.piece == kTrunk ? 0 : model.experts.active * perceptron;
  const double perceptrons = (model.layers - mixed) * perceptron + mixed * (gate + mixture);
  return flops_of((model.layers * (projections + attention) + perceptrons + width * model.vocabulary) * context);
}

double decoder_activations(const ModelOptions& model) {
  if (model.experts.piece == kNoPiece) return decoder_activations(cell_of(model, 0));  // for others
  const double width = model.width, context = model.context;
  // Two sums, both norms and attention's output; queries, keys and values; the weights of attention.
  const double block =
      5 * width + static_cast<double>(packed_width(model)) + static_cast<double>(model.heads) * context;
  // Its gate, the other half, the gate's activation and the product.
  const double perceptron = 4.0 * model.mlp_width;
  if (model.experts.piece >= 0) return units_per_sample(model) * (perceptron + 3 * width);
  // The tokens for each expert, their results twice, and what the gate makes of the scores.
  const double hidden = model.experts.piece == kTrunk ? 0 : perceptron;
  const double mixture = model.experts.active * (hidden + 3 * width) + 4.0 * experts_in_layer(model);
  const int mixed = static_cast<int>(layers_with_experts(model).size());
  const double perceptrons = (model.layers - mixed) * perceptron + mixed * mixture;
  constexpr double kOfScores = 2;  // the scores and their logarithms of probabilities
  return context * (model.layers * block + perceptrons + 2 * width + kOfScores * model.vocabulary);
}

}  // namespace starling::wire
