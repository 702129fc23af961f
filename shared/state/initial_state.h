// The state of round 0, equal to the bit on every machine: [parameters | moments], wire::state_size floats. Parameters
// follow their layout's initial distribution, seeded by the manifest, or come from the file that a script's manifest
// names; moments are zero. The state's digest stands in the signed manifest, so that nobody else chooses the state that
// a run begins with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::state {

// The bytes of a file with a script's parameters, read on demand.
struct ParameterFile {
  std::uint64_t bytes = 0;
  // Fills `out` with the bytes from `offset` on.
  std::function<Status(std::uint64_t offset, std::span<std::uint8_t> out)> read;
};
Result<ParameterFile> open_parameters(const std::filesystem::path& path);
// `file` must outlive the result.
ParameterFile parameters_in(std::span<const std::uint8_t> file);

// Fills the state of any architecture except a script.
void fill_initial_state(const wire::RunManifest& manifest, std::span<float> state);
// Fills the state of a script. corrupt when the file holds other tensors, or a value that is not finite.
Status load_initial_state(const wire::RunManifest& manifest, const ParameterFile& file, std::span<float> state);

// state_digest() of the state that the functions above make; allocates memory for one chunk only.
Digest initial_state_digest(const wire::RunManifest& manifest);
Result<Digest> initial_state_digest(const wire::RunManifest& manifest, const ParameterFile& file);

// failed_precondition when the state made here is not the one that the project has signed. Older manifests name none
// and accept any.
Status check_initial_state(const wire::RunManifest& manifest, const Digest& made);

}  // namespace starling::state
