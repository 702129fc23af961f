#include "shared/run/model_layout.h"

#include <algorithm>
#include <span>
#include <utility>

#include "shared/base/words.h"
#include "shared/run/cells.h"
#include "shared/run/layouts.h"
#include "shared/run/round_parts.h"

namespace starling::wire {

namespace {

const ArchitectureTraits& traits_of(const ModelOptions& model) {
  return kArchitectures[static_cast<std::size_t>(model.architecture)];
}

const ArchitectureFacts& facts_of(const ModelOptions& model) { return traits_of(model).facts; }

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

std::vector<ParameterInfo> model_layout(const ModelOptions& model) {
  std::vector<ParameterInfo> layout = traits_of(model).layout(model);
  return model.experts.piece == kWholeModel ? std::move(layout) : layout_of_piece(model, std::move(layout));
}

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

std::size_t computed_state_size(const RunManifest& manifest) {
  return manifest.local ? local_state_size(manifest) : state_size(manifest);
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
  if (manifest.round.audit_rate > 0) needs.gradients += vector;  // others' work is computed again at older parameters
  needs.activations = static_cast<double>(sizeof(float)) * traits_of(manifest.model).activations(manifest.model);
  return needs;
}

}  // namespace starling::wire
