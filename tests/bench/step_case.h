// What the step benchmark computes: three models at their usual sizes, and data that they cannot tell from real data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/wire/run_manifest.h"

namespace starling::bench {

struct StepCase {
  std::string name;  // gpt, albert or resnet
  wire::RunManifest manifest;
  int micro_batches_a_step = 1;
};

// gpt: 11 million parameters; albert: as published (base), of 128 tokens; resnet: 18 layers, images of 32 pixels.
StepCase step_case(std::string_view name);

// A file of the manifest's kind of data, full of chance.
std::vector<std::uint8_t> step_data(const wire::RunManifest& manifest);

}  // namespace starling::bench
