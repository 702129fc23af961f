// The parameters and costs of each architecture, and the table of them all.
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shared/run/model_layout.h"

namespace starling::wire {

// Puts the tensors of a layout one behind the other, without gaps.
class LayoutBuilder {
 public:
  void matrix(std::string name, std::int64_t rows, std::int64_t columns, double bound) {
    add({std::move(name), {rows, columns}, 0, 0, 0, true, true, bound, 0});
  }
  // A matrix from tokens or positions to the model's width, or from the width to the model's outputs.
  void embedding(std::string name, std::int64_t rows, std::int64_t columns, double bound) {
    add({std::move(name), {rows, columns}, 0, 0, 0, true, false, bound, 0});
  }
  void vector(std::string name, std::int64_t size, float value) {
    add({std::move(name), {size}, 0, 0, 0, false, false, 0, value});
  }
  // A tensor of a model without further settings: tensors of two dimensions and more decay, like in all others.
  void tensor(std::string name, std::vector<std::int64_t> shape) {
    const bool decayed = shape.size() > 1;
    add({std::move(name), std::move(shape), 0, 0, 0, decayed, false, 0, 0});
  }
  std::vector<ParameterInfo> take() { return std::move(layout_); }

 private:
  void add(ParameterInfo info) {
    info.offset = info.drawn_at = next_;
    info.count = 1;
    for (const std::int64_t size : info.shape) info.count *= static_cast<std::size_t>(size);
    next_ += info.count;
    layout_.push_back(std::move(info));
  }

  std::vector<ParameterInfo> layout_;
  std::size_t next_ = 0;
};

// Uniform values in ±bound have a deviation of bound / sqrt(3).
inline double uniform_bound(double deviation) { return deviation * std::sqrt(3.0); }

// Initial values of a transformer whose blocks normalise their input first: its matrices' deviation is 0.7 over the
// root of the width. Those whose output is added to the residual stream start smaller, so that its variance does not
// grow with depth.
inline double pre_norm_bound(const ModelOptions& model) { return 0.7 * std::sqrt(3.0 / model.width); }
inline double residual_bound(const ModelOptions& model) {
  return pre_norm_bound(model) / std::sqrt(2.0 * model.layers);
}

// Operations for a count of multiplications: each is a sum as well, and on the backward pass each product of matrices
// has two of its own kind; but only one where the inputs themselves are multiplied, because nobody asks for their
// gradient.
inline double flops_of(double multiplications, double of_the_values = 0) {
  return 2 * (3 * multiplications + 2 * of_the_values);
}

std::vector<ParameterInfo> gpt_layout(const ModelOptions& model);
double gpt_flops(const ModelOptions& model);
std::vector<ParameterInfo> decoder_layout(const ModelOptions& model);
double decoder_flops(const ModelOptions& model);
std::vector<ParameterInfo> albert_layout(const ModelOptions& model);
double albert_flops(const ModelOptions& model);
std::vector<ParameterInfo> resnet_layout(const ModelOptions& model);
double resnet_flops(const ModelOptions& model);
// The layout that the manifest lists. The program itself is not looked at, so the cost of a sample is not known: 0.
std::vector<ParameterInfo> script_layout(const ModelOptions& model);
double script_flops(const ModelOptions& model);
double script_activations(const ModelOptions& model);  // the figure of its operator
std::vector<ParameterInfo> mlp_layout(const ModelOptions& model);
double mlp_flops(const ModelOptions& model);

// Floats that a sample's backward pass needs from its forward pass: the larger results of each layer.
double gpt_activations(const ModelOptions& model);
double decoder_activations(const ModelOptions& model);
double albert_activations(const ModelOptions& model);
double resnet_activations(const ModelOptions& model);
double mlp_activations(const ModelOptions& model);

inline std::int64_t no_values(const ModelOptions&) { return 0; }
inline std::int64_t mlp_values(const ModelOptions& model) { return model.inputs; }
inline std::int64_t resnet_values(const ModelOptions& model) {
  return std::int64_t{model.channels} * model.image_size * model.image_size;
}

// The data that an architecture learns from, and its abilities: facts that model_options.h and model_layout.h ask for.
struct ArchitectureFacts {
  std::span<const DataKind> data_kinds;
  SampleForm text_form = SampleForm::next_token;
  bool has_program = false;
  bool writes_text = false;
  std::int64_t (*input_values)(const ModelOptions&) = no_values;
};

inline constexpr std::array kAnyData{DataKind::bytes, DataKind::tokens, DataKind::labelled};
inline constexpr std::array kTokens{DataKind::tokens};
inline constexpr std::array kLabelled{DataKind::labelled};
inline constexpr std::span<const DataKind> kText = std::span(kAnyData).first(2);

// An architecture in the table: its parameters, and a sample's floating-point operations and floats kept.
struct ArchitectureTraits {
  Architecture architecture;
  std::vector<ParameterInfo> (*layout)(const ModelOptions&);
  double (*flops)(const ModelOptions&);
  double (*activations)(const ModelOptions&);
  ArchitectureFacts facts;
};

// Every architecture, in the order of the enum. Its settings: each_model_setting(). Its computation: client/models.
inline constexpr std::array kArchitectures = {
    ArchitectureTraits{
        Architecture::gpt, gpt_layout, gpt_flops, gpt_activations, {.data_kinds = kText, .writes_text = true}},
    ArchitectureTraits{Architecture::albert,
                       albert_layout,
                       albert_flops,
                       albert_activations,
                       {.data_kinds = kTokens, .text_form = SampleForm::masked_tokens}},
    ArchitectureTraits{Architecture::resnet,
                       resnet_layout,
                       resnet_flops,
                       resnet_activations,
                       {.data_kinds = kLabelled, .input_values = resnet_values}},
    ArchitectureTraits{Architecture::mlp,
                       mlp_layout,
                       mlp_flops,
                       mlp_activations,
                       {.data_kinds = kLabelled, .input_values = mlp_values}},
    ArchitectureTraits{Architecture::script,
                       script_layout,
                       script_flops,
                       script_activations,
                       {.data_kinds = kAnyData, .has_program = true}},
    ArchitectureTraits{Architecture::decoder,
                       decoder_layout,
                       decoder_flops,
                       decoder_activations,
                       {.data_kinds = kText, .writes_text = true}},
};

constexpr bool architectures_in_order() {
  for (std::size_t i = 0; i < kArchitectures.size(); ++i) {
    if (kArchitectures[i].architecture != static_cast<Architecture>(i)) return false;
  }
  return kArchitectures.size() == kArchitectureWords.size();
}
static_assert(architectures_in_order());

}  // namespace starling::wire
