#include <cmath>

#include "shared/run/layouts.h"

namespace starling::wire {

std::vector<ParameterInfo> mlp_layout(const ModelOptions& model) {
  LayoutBuilder builder;
  int from = model.inputs;
  for (int layer = 0; layer < model.layers; ++layer) {
    const std::string name = "layer" + std::to_string(layer);
    const double bound = uniform_bound(std::sqrt(2.0 / from));  // a rectifier lets half through
    if (layer == 0) {
      builder.embedding(name + ".weight", model.width, from, bound);
    } else {
      builder.matrix(name + ".weight", model.width, from, bound);
    }
    builder.vector(name + ".bias", model.width, 0);
    from = model.width;
  }
  builder.embedding("classes.weight", model.classes, from, 1 / std::sqrt(static_cast<double>(from)));
  builder.vector("classes.bias", model.classes, 0);
  return builder.take();
}

double mlp_flops(const ModelOptions& model) {
  const double width = model.width;
  return flops_of((model.layers - 1) * width * width + width * model.classes, width * model.inputs);
}

double mlp_activations(const ModelOptions& model) {
  return model.inputs + 2.0 * model.layers * model.width + 2.0 * model.classes;
}

}  // namespace starling::wire
