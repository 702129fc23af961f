#include "shared/run/model_layout.h"

#include <algorithm>
#include <array>

#include "shared/base/verify.h"
#include "shared/run/layouts.h"
#include "shared/run/round_parts.h"

namespace starling::wire {

namespace {

struct Architecture {
  std::string_view name;
  std::vector<ParameterInfo> (*layout)(const ModelOptions&);
  double (*flops)(const ModelOptions&);
  double (*activations)(const ModelOptions&);
};

// Every architecture. Its settings: each_model_setting(). Its computation: client/models.
constexpr std::array kArchitectures = {
    Architecture{"gpt", gpt_layout, gpt_flops, gpt_activations},
    Architecture{"albert", albert_layout, albert_flops, albert_activations},
    Architecture{"resnet", resnet_layout, resnet_flops, resnet_activations},
    Architecture{"mlp", mlp_layout, mlp_flops, mlp_activations},
    Architecture{"script", script_layout, script_flops, script_activations},
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

}  // namespace

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
