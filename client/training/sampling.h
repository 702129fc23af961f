// Text from a model.
#pragma once

#include <string>

#include "client/models/model.h"
#include "shared/wire/run_manifest.h"

namespace starling::training {

struct SamplingOptions {
  std::string prompt;      // may be empty
  int length = 0;          // bytes to add
  double temperature = 1;  // 0: the likeliest byte every time
};

// The added bytes, from a model of bytes. The same for the same model, manifest and options.
std::string continue_text(const models::Model& model, const wire::RunManifest& manifest, const SamplingOptions& options,
                          const at::Device& device);

}  // namespace starling::training
