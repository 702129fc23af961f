// A trained model as files that others open: tensors for a safetensors file, and config.json. Those of a gpt with
// learned positions, GELU and no recent-word tables, and of an albert, are named and laid out as Hugging Face's
// transformers have GPT2LMHeadModel and AlbertForPreTraining; every other model has its own names, and a config.json
// that says what the manifest says of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"
#include "shared/wire/safetensors.h"

namespace starling::wire {

struct ExportedModel {
  std::string config;                      // JSON
  std::vector<TensorInfo> tensors;         // all F32
  std::vector<std::vector<float>> values;  // of each
};

// `parameters`: parameter_count(model) floats.
ExportedModel export_model(const ModelOptions& model, std::span<const float> parameters);

// Whether the files have the layout of Hugging Face's transformers.
bool is_for_transformers(const ModelOptions& model);

}  // namespace starling::wire
