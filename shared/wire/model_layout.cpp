#include "shared/wire/model_layout.h"

#include <algorithm>
#include <array>

#include "shared/base/verify.h"
#include "shared/wire/layouts.h"

namespace starling::wire {

namespace {

struct Architecture {
  std::string_view name;
  std::vector<ParameterInfo> (*layout)(const ModelOptions&);
  double (*flops)(const ModelOptions&);
};

// Every architecture there is. Its settings: each_model_setting(). Its computation: client/models.
constexpr std::array kArchitectures = {
    Architecture{"gpt", gpt_layout, gpt_flops},
    Architecture{"albert", albert_layout, albert_flops},
    Architecture{"resnet", resnet_layout, resnet_flops},
    Architecture{"mlp", mlp_layout, mlp_flops},
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

double flops_per_sample(const ModelOptions& model) { return architecture_of(model).flops(model); }

}  // namespace starling::wire
