#include "shared/run/model_layout.h"

#include <algorithm>
#include <array>

#include "shared/base/verify.h"
#include "shared/run/layouts.h"
#include "shared/run/round_parts.h"

namespace starling::wire {

namespace {

std::int64_t no_values(const ModelOptions&) { return 0; }
std::int64_t mlp_values(const ModelOptions& model) { return model.inputs; }
std::int64_t resnet_values(const ModelOptions& model) {
  return std::int64_t{model.channels} * model.image_size * model.image_size;
}

struct Facts {
  std::string_view data_kinds;  // in the form of a message
  SampleForm text_form = SampleForm::next_token;
  bool has_program = false;
  bool writes_text = false;
  std::int64_t (*input_values)(const ModelOptions&) = no_values;
};

struct Architecture {
  std::string_view name;
  std::vector<ParameterInfo> (*layout)(const ModelOptions&);
  double (*flops)(const ModelOptions&);
  double (*activations)(const ModelOptions&);
  Facts facts;
};

// Every architecture. Its settings: each_model_setting(). Its computation: client/models.
constexpr std::array kArchitectures = {
    Architecture{
        "gpt", gpt_layout, gpt_flops, gpt_activations, {.data_kinds = "'bytes' or 'tokens'", .writes_text = true}},
    Architecture{"albert",
                 albert_layout,
                 albert_flops,
                 albert_activations,
                 {.data_kinds = "'tokens'", .text_form = SampleForm::masked_tokens}},
    Architecture{"resnet",
                 resnet_layout,
                 resnet_flops,
                 resnet_activations,
                 {.data_kinds = "'labelled'", .input_values = resnet_values}},
    Architecture{
        "mlp", mlp_layout, mlp_flops, mlp_activations, {.data_kinds = "'labelled'", .input_values = mlp_values}},
    Architecture{"script",
                 script_layout,
                 script_flops,
                 script_activations,
                 {.data_kinds = "'bytes', 'tokens' or 'labelled'", .has_program = true}},
};

const Architecture* find(std::string_view name) {
  const auto found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const Architecture& architecture) { return architecture.name == name; });
  return found == kArchitectures.end() ? nullptr : &*found;
}

const Architecture& architecture_of(const ModelOptions& model) {
  const Architecture* found = find(model.architecture);
  VERIFY(found != nullptr);  // a manifest is checked before anything asks
  return *found;
}

Facts facts_of(const ModelOptions& model) {
  const Architecture* found = find(model.architecture);
  return found == nullptr ? Facts{} : found->facts;
}

}  // namespace

bool has_program(const ModelOptions& model) { return facts_of(model).has_program; }
bool writes_text(const ModelOptions& model) { return facts_of(model).writes_text; }
std::int64_t input_values(const ModelOptions& model) { return facts_of(model).input_values(model); }
SampleForm text_form(const ModelOptions& model) { return facts_of(model).text_form; }
std::string data_kinds(const ModelOptions& model) { return std::string(facts_of(model).data_kinds); }

bool learns_from(const ModelOptions& model, std::string_view data_kind) {
  const std::string_view kinds = facts_of(model).data_kinds;
  return kinds.empty() || kinds.find("'" + std::string(data_kind) + "'") != std::string_view::npos;
}

bool is_architecture(std::string_view name) { return find(name) != nullptr; }

std::string architectures() {
  std::string names;
  for (const Architecture& architecture : kArchitectures) {
    names += (names.empty() ? "'" : ", '") + std::string(architecture.name) + "'";
  }
  return names;
}

std::vector<ParameterInfo> model_layout(const ModelOptions& model) { return architecture_of(model).layout(model); }

std::size_t parameter_count(const ModelOptions& model) {
  const std::vector<ParameterInfo> layout = model_layout(model);
  return layout.empty() ? 0 : layout.back().offset + layout.back().count;
}

std::size_t state_size(const RunManifest& manifest) {
  return parameter_count(manifest.model) * (1 + static_cast<std::size_t>(moment_vectors(manifest.optimizer)));
}

std::size_t local_state_size(const RunManifest& manifest) {
  if (!manifest.local) return 0;
  return parameter_count(manifest.model) * (1 + static_cast<std::size_t>(moment_vectors(manifest.local->optimizer)));
}

double flops_per_sample(const ModelOptions& model) { return architecture_of(model).flops(model); }

double MemoryNeeds::total() const { return programs + state + gradients + activations; }

MemoryNeeds memory_needs(const RunManifest& manifest) {
  // Memory that both programs take before they know of a run, most of it LibTorch's.
  constexpr double kPrograms = 200e6;
  const double vector = static_cast<double>(sizeof(float)) * static_cast<double>(parameter_count(manifest.model));
  MemoryNeeds needs;
  needs.programs = kPrograms;
  needs.state = static_cast<double>(sizeof(float)) * static_cast<double>(state_size(manifest));
  for (const RoundPart& part : round_parts()) {
    const PartVectors vectors = part.vectors(manifest);
    needs.state += vectors.state * vector;
    needs.gradients += vectors.gradients * vector;
  }
  needs.activations = static_cast<double>(sizeof(float)) * architecture_of(manifest.model).activations(manifest.model);
  return needs;
}

}  // namespace starling::wire
