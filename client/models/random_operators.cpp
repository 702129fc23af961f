#include "client/models/random_operators.h"

#include <ATen/core/enum_tag.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <string_view>

namespace starling::models {

namespace {

using torch::jit::Node;

std::optional<c10::IValue> constant(const Node& node, const c10::FunctionSchema& schema, const char* argument) {
  const auto index = schema.argumentIndexWithName(argument);
  if (!index || static_cast<std::size_t>(*index) >= node.inputs().size()) return std::nullopt;
  const auto value = torch::jit::toIValue(node.input(static_cast<std::size_t>(*index)));
  return value ? std::optional<c10::IValue>(*value) : std::nullopt;
}

// Whether its arguments say for ever that it drops nothing.
bool is_off(const Node& node, const c10::FunctionSchema& schema) {
  for (const char* share : {"p", "dropout", "dropout_p"}) {
    const auto value = constant(node, schema, share);
    if (value && value->isDouble() && value->toDouble() == 0) return true;
  }
  for (const char* training : {"train", "training"}) {
    const auto value = constant(node, schema, training);
    if (value && value->isBool() && !value->toBool()) return true;
  }
  return false;
}

bool draws(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return false;
  const std::string_view name = schema->name();
  const auto has = [schema](const char* argument) { return schema->argumentIndexWithName(argument).has_value(); };
  bool is_random = name.find("dropout") != std::string_view::npos || name.starts_with("aten::rand") ||
                   has("generator") || has("dropout") || has("dropout_p");
  if (const torch::jit::Operator* known = node.maybeOperator(); known != nullptr && !is_random) {
    const auto tags = known->getTags();
    is_random = std::find(tags.begin(), tags.end(), at::Tag::nondeterministic_seeded) != tags.end();
  }
  return is_random && !is_off(node, *schema);
}

std::optional<std::string> first_in(const torch::jit::Block& block, bool& calls_unknown) {
  for (const Node* node : block.nodes()) {
    if (draws(*node)) return node->kind().toQualString();
    if (node->kind() == c10::prim::CallMethod) calls_unknown = true;  // by an interface: it could not be inlined
    for (const torch::jit::Block* inner : node->blocks()) {
      if (auto found = first_in(*inner, calls_unknown)) return found;
    }
    if (!node->hasAttribute(c10::attr::Subgraph)) continue;
    if (auto found = first_in(*node->g(c10::attr::Subgraph)->block(), calls_unknown)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> first_of(const torch::jit::Method& method, bool& calls_unknown) {
  const auto graph = method.graph()->copy();
  torch::jit::Inline(*graph);
  return first_in(*graph->block(), calls_unknown);
}

}  // namespace

std::optional<std::string> random_operator(const torch::jit::Module& program) {
  const auto forward = program.find_method("forward");
  if (!forward) return std::nullopt;
  bool calls_unknown = false;
  auto found = first_of(*forward, calls_unknown);
  if (found || !calls_unknown) return found;
  for (const torch::jit::Module& module : program.modules()) {
    for (const torch::jit::Method& method : module.get_methods()) {
      if ((found = first_of(method, calls_unknown))) return found;
    }
  }
  return std::nullopt;
}

}  // namespace starling::models
