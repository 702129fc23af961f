// The operator's file manifest.toml: the manifest's own field names, and paths of local data.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::manifest {

constexpr std::size_t kOperatorManifestBytesMax = 64 * 1024;

// Origin of the data: a training file with either a validation file or a share at the training file's end, or a listing
// of shards, which names both.
struct ManifestSource {
  std::filesystem::path program;     // program of a model of architecture script; empty for others
  std::filesystem::path parameters;  // parameters of such a model
  std::filesystem::path shards;      // wire::decode_listing reads it; empty: train applies
  std::filesystem::path train;
  std::filesystem::path validation;  // empty: validation_fraction applies
  double validation_fraction = 0;    // share of train's bytes, in (0, 0.5]
};

struct OperatorManifest {
  // Complete except for the content of files: the caller adds the data's artefacts and shards, and a script's program
  // and parameters.
  wire::RunManifest manifest;
  ManifestSource source;
};

// Relative paths are taken from `folder`. Absent fields keep their defaults (run_id and data.train, or data.shards,
// have none). A flops_per_sample of 0 is computed from the model; a script must give it and activation_bytes. An
// unknown key, a wrong type or a value out of range is invalid_argument with the line and the key.
Result<OperatorManifest> read_operator_manifest(std::string_view toml, const std::filesystem::path& folder);

// The manifest as text that read_operator_manifest reads back as an equal manifest. Every setting is written, defaults
// included, so that an operator sees what may be changed.
std::string write_operator_manifest(const OperatorManifest& wanted);

}  // namespace starling::manifest
