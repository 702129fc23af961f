// What an operator writes: manifest.toml, with the manifest's own field names and paths of local data.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"

namespace starling::manifest {

constexpr std::size_t kOperatorManifestBytesMax = 64 * 1024;

// Where the data comes from. Either a validation file, or a share of the end of the training file; or a listing of
// shards, which names both.
struct ManifestSource {
  std::filesystem::path program;     // of a model of architecture script; empty for all others
  std::filesystem::path parameters;  // the same
  std::filesystem::path shards;      // wire::decode_listing reads it; empty: train applies
  std::filesystem::path train;
  std::filesystem::path validation;  // empty: validation_fraction applies
  double validation_fraction = 0;    // of train's bytes, in (0, 0.5]
};

struct OperatorManifest {
  // Complete except for what files hold: data, whose artefacts and shards the caller adds, and a script's program and
  // parameters.
  wire::RunManifest manifest;
  ManifestSource source;
};

// Relative paths are taken from `folder`. Fields that are absent keep their defaults (run_id and data.train, or
// data.shards, have none); a flops_per_sample of 0 is computed from the model; of a script it and activation_bytes must
// be there. An unknown key, a wrong type or a value out of range is invalid_argument with the line and the key.
Result<OperatorManifest> read_operator_manifest(std::string_view toml, const std::filesystem::path& folder);

// The same as text: what read_operator_manifest reads back as an equal manifest. Every setting is written, also those
// that are as by default, so that an operator sees what may be changed.
std::string write_operator_manifest(const OperatorManifest& wanted);

}  // namespace starling::manifest
