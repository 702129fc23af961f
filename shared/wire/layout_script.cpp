#include "shared/wire/layouts.h"

namespace starling::wire {

// Initial values come from the operator's file; these are those of a state that has not read it.
std::vector<ParameterInfo> script_layout(const ModelOptions& model) {
  LayoutBuilder builder;
  for (const TensorShape& tensor : model.tensors) builder.any(tensor.name, tensor.shape);
  return builder.take();
}

// What a program computes is its operator's to say.
double script_flops(const ModelOptions&) { return 0; }

}  // namespace starling::wire
