// Generates tokens with a model.
#pragma once

#include <span>
#include <vector>

#include "client/models/model.h"
#include "shared/run/run_manifest.h"

namespace starling::training {

struct SamplingOptions {
  std::span<const int> prompt{};  // tokens of the model's vocabulary; may be empty
  int count = 0;                  // number of tokens to add
  double temperature = 1;         // 0: always the likeliest token
};

// The added tokens. Equal for equal model, manifest and options.
std::vector<int> continue_tokens(const models::Model& model, const wire::RunManifest& manifest,
                                 const SamplingOptions& options, const at::Device& device);

}  // namespace starling::training
