#include "shared/run/model_layout.h"

#include <algorithm>
#include <array>
#include <span>

#include "shared/base/words.h"
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
  std::span<const DataKind> data_kinds;
  SampleForm text_form = SampleForm::next_token;
  bool has_program = false;
  bool writes_text = false;
  std::int64_t (*input_values)(const ModelOptions&) = no_values;
};

constexpr std::array kAnyData{DataKind::bytes, DataKind::tokens, DataKind::labelled};
constexpr std::array kTokens{DataKind::tokens};
constexpr std::array kLabelled{DataKind::labelled};
constexpr std::span<const DataKind> kText = std::span(kAnyData).first(2);

struct Traits {
  Architecture architecture;
  std::vector<ParameterInfo> (*layout)(const ModelOptions&);
  double (*flops)(const ModelOptions&);
  double (*activations)(const ModelOptions&);
  Facts facts;
};

// Every architecture, in the order of the enum. Its settings: each_model_setting(). Its computation: client/models.
constexpr std::array kTraits = {
    Traits{Architecture::gpt, gpt_layout, gpt_flops, gpt_activations, {.data_kinds = kText, .writes_text = true}},
    Traits{Architecture::albert,
           albert_layout,
           albert_flops,
           albert_activations,
           {.data_kinds = kTokens, .text_form = SampleForm::masked_tokens}},
    Traits{Architecture::resnet,
           resnet_layout,
           resnet_flops,
           resnet_activations,
           {.data_kinds = kLabelled, .input_values = resnet_values}},
    Traits{Architecture::mlp,
           mlp_layout,
           mlp_flops,
           mlp_activations,
           {.data_kinds = kLabelled, .input_values = mlp_values}},
    Traits{Architecture::script,
           script_layout,
           script_flops,
           script_activations,
           {.data_kinds = kAnyData, .has_program = true}},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kTraits.size(); ++i) {
    if (kTraits[i].architecture != static_cast<Architecture>(i)) return false;
  }
  return kTraits.size() == kArchitectureWords.size();
}
static_assert(is_in_order());

const Traits& traits_of(const ModelOptions& model) { return kTraits[static_cast<std::size_t>(model.architecture)]; }

const Facts& facts_of(const ModelOptions& model) { return traits_of(model).facts; }

}  // namespace

bool has_program(const ModelOptions& model) { return facts_of(model).has_program; }
bool writes_text(const ModelOptions& model) { return facts_of(model).writes_text; }
std::int64_t input_values(const ModelOptions& model) { return facts_of(model).input_values(model); }
SampleForm text_form(const ModelOptions& model) { return facts_of(model).text_form; }
std::string data_kinds(const ModelOptions& model) {
  std::vector<std::string_view> words;
  for (const DataKind kind : facts_of(model).data_kinds) words.push_back(word_of(kind));
  return in_quotes(words);
}

bool learns_from(const ModelOptions& model, DataKind kind) {
  const std::span<const DataKind> kinds = facts_of(model).data_kinds;
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::vector<ParameterInfo> model_layout(const ModelOptions& model) { return traits_of(model).layout(model); }

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

double flops_per_sample(const ModelOptions& model) { return traits_of(model).flops(model); }

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
  needs.activations = static_cast<double>(sizeof(float)) * traits_of(manifest.model).activations(manifest.model);
  return needs;
}

}  // namespace starling::wire
