// A trained model as files that others open: tensors for a safetensors file, and config.json. A gpt with learned
// positions, GELU and no recent-token tables, an albert, a decoder, and one with experts in each layer have the names
// and layout of GPT2LMHeadModel, AlbertForPreTraining, LlamaForCausalLM and MixtralForCausalLM of Hugging Face's
// transformers; every other model has its own names, and a config.json that repeats the manifest's settings. A
// tokenizer_config.json names the class of transformers that makes the tokens of text that the model was trained on.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "shared/wire/safetensors.h"

namespace starling::wire {

struct ExportedModel {
  std::string config;                      // JSON
  std::vector<TensorInfo> tensors;         // all F32
  std::vector<std::vector<float>> values;  // the floats of each tensor
};

// `parameters`: parameter_count(model) floats.
ExportedModel export_model(const ModelOptions& model, DataKind data_kind, std::span<const float> parameters);

// The name by which both classes look for the SentencePiece model beside it.
constexpr std::string_view kTokenizerFile = "spiece.model";
// Returns tokenizer_config.json. `marks`: the SentencePiece model's spelling of the tokens that are reserved
// (kReservedTokens).
std::string export_tokenizer_config(const ModelOptions& model, std::span<const std::string> marks);

// True if the files have the layout of Hugging Face's transformers.
bool is_for_transformers(const ModelOptions& model);

}  // namespace starling::wire
