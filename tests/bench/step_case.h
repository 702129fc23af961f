// Inputs of the step benchmark: three models at their usual sizes, and random data of the real form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/run/run_manifest.h"

namespace starling::bench {

struct StepCase {
  std::string name;  // gpt, albert or resnet
  wire::RunManifest manifest;
  int micro_batches_a_step = 1;
};

// gpt: 11 million parameters; albert: the published base model, with 128 tokens; resnet: 18 layers, images of 32
// pixels.
StepCase step_case(std::string_view name);

// A file of the manifest's kind of data, with random content.
std::vector<std::uint8_t> step_data(const wire::RunManifest& manifest);

}  // namespace starling::bench
