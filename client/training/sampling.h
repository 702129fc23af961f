// Text from a model.
#pragma once

#include <string>

#include "client/models/gpt.h"
#include "shared/wire/run_manifest.h"

namespace starling::training {

struct SamplingOptions {
  std::string prompt;      // may be empty
  int length = 0;          // bytes to add
  double temperature = 1;  // 0: the likeliest byte every time
};

// The added bytes. The same for the same model, manifest and options.
std::string continue_text(const models::Gpt& model, const wire::RunManifest& manifest, const SamplingOptions& options);

}  // namespace starling::training
