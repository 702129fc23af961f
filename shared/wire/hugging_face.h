// A trained model as files that others open: tensors for a safetensors file, and config.json. Those of a gpt with
// learned positions, GELU and no recent-word tables, and of an albert, are named and laid out as Hugging Face's
// transformers have GPT2LMHeadModel and AlbertForPreTraining; every other model has its own names, and a config.json
// that says what the manifest says of it. A tokenizer_config.json says which of transformers' classes makes the tokens
// of text that the model was trained on.
#pragma once

#include <span>
#include <string>
#include <string_view>
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

// `parameters`: parameter_count(model) floats. data_kind: DataOptions::kind.
ExportedModel export_model(const ModelOptions& model, std::string_view data_kind, std::span<const float> parameters);

// The name by which both classes look for the SentencePiece model beside it.
constexpr std::string_view kTokenizerFile = "spiece.model";
// tokenizer_config.json. `marks`: how the SentencePiece model writes the tokens that are reserved (kReservedTokens).
std::string export_tokenizer_config(const ModelOptions& model, std::span<const std::string> marks);

// Whether the files have the layout of Hugging Face's transformers.
bool is_for_transformers(const ModelOptions& model);

}  // namespace starling::wire
