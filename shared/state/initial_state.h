// The state of round 0, equal to the bit on every machine: [parameters | moments], wire::state_size floats. Parameters
// are as their layout says, seeded by the manifest, or those of the file that a script's manifest names; moments are
// zero. Its digest stands in the signed manifest, so that nobody else chooses what a run begins with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"

namespace starling::state {

// The bytes of a file with a script's parameters, read where they are needed.
struct ParameterFile {
  std::uint64_t bytes = 0;
  // All of `out`, from that byte on.
  std::function<Status(std::uint64_t offset, std::span<std::uint8_t> out)> read;
};
Result<ParameterFile> open_parameters(const std::filesystem::path& path);
// `file` outlives the result.
ParameterFile parameters_in(std::span<const std::uint8_t> file);

// Without a file: any architecture but a script.
void fill_initial_state(const wire::RunManifest& manifest, std::span<float> state);
// The same for a script. corrupt when the file holds other tensors, or a value that is not finite.
Status load_initial_state(const wire::RunManifest& manifest, const ParameterFile& file, std::span<float> state);

// What state_digest() is of the state that the functions above make, with memory for one chunk of it.
Digest initial_state_digest(const wire::RunManifest& manifest);
Result<Digest> initial_state_digest(const wire::RunManifest& manifest, const ParameterFile& file);

// Whether the state that was made here is the one that the project has signed. Older manifests name none: any is.
Status check_initial_state(const wire::RunManifest& manifest, const Digest& made);

}  // namespace starling::state
