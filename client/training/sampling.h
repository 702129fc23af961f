// Words from a model.
#pragma once

#include <span>
#include <vector>

#include "client/models/model.h"
#include "shared/wire/run_manifest.h"

namespace starling::training {

struct SamplingOptions {
  std::span<const int> prompt{};  // words of the model's vocabulary; may be empty
  int count = 0;                  // of words to add
  double temperature = 1;         // 0: the likeliest word every time
};

// The added words, bytes or tokens. The same for the same model, manifest and options.
std::vector<int> continue_words(const models::Model& model, const wire::RunManifest& manifest,
                                const SamplingOptions& options, const at::Device& device);

}  // namespace starling::training
