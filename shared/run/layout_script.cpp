#include <fmt/format.h>

#include <limits>
#include <set>

#include "shared/run/layouts.h"
#include "shared/run/manifest_fields.h"

namespace starling::wire {
namespace {

// True for names that torch writes: "blocks.0.norm.weight".
bool is_tensor_name(std::string_view name) {
  if (name.empty() || name.size() > kTensorNameBytesMax) return false;
  for (const char c : name) {
    if (c <= ' ' || c > '~' || c == '"' || c == '\\') return false;
  }
  return true;
}

// Returns -1 for more than kParametersMax, or if a dimension is not positive.
std::int64_t elements(const ScriptModel::Tensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) {
    if (size < 1 || size > kParametersMax / count) return -1;
    count *= size;
  }
  return count;
}

}  // namespace

std::vector<ParameterInfo> script_layout(const ModelOptions& model) {
  LayoutBuilder builder;
  for (const ScriptModel::Tensor& tensor : model.script.tensors) builder.tensor(tensor.name, tensor.shape);
  return builder.take();
}

double script_flops(const ModelOptions&) { return 0; }

double script_activations(const ModelOptions& model) {
  return static_cast<double>(model.script.activation_bytes) / sizeof(float);
}

void check_script(Checker& check, const ScriptModel& script) {
  check_artefact(check, "model.program", script.program);
  check_artefact(check, "model.parameters", script.parameters);
  check.within("model.tensors", script.tensors.size(), 1, kTensorsMax);
  std::set<std::string_view> names;
  std::int64_t total = 0;
  for (const ScriptModel::Tensor& tensor : script.tensors) {
    check.that(is_tensor_name(tensor.name) && names.insert(tensor.name).second, "model.tensors",
               fmt::format("'{}'", tensor.name), "names of their own, of letters, digits, dots and the like");
    const std::int64_t count = tensor.shape.size() <= kDimensionsMax ? elements(tensor) : -1;
    check.that(count > 0 && (total += count) <= kParametersMax, "model.tensors",
               fmt::format("'{}' of {} dimensions", tensor.name, tensor.shape.size()),
               fmt::format("tensors of at most {} dimensions and {} elements in all", kDimensionsMax, kParametersMax));
    if (!check.status().ok()) return;
  }
}

}  // namespace starling::wire
