// Makes an operator's files artefacts: copies them beside the database, each under the name of its digest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "shared/wire/safetensors.h"

namespace starling::server {

struct FilePart {
  std::filesystem::path file;
  std::int64_t offset = 0;
  std::int64_t bytes = -1;  // -1: to the end
};

Result<std::int64_t> file_bytes(const std::filesystem::path& file);
// The first bytes of the file: bytes_max, or all.
Result<std::vector<std::uint8_t>> read_file_head(const std::filesystem::path& file, std::size_t bytes_max);
// The tensors of a safetensors file; its data is not read.
Result<std::vector<wire::TensorInfo>> read_tensor_file_head(const std::filesystem::path& file);
// Sees the part's bytes as they are read, in order; an error ends the reading.
using LookAt = std::function<Status(std::span<const std::uint8_t> bytes)>;
Status read_part(const FilePart& part, const LookAt& look);
// Copies the part into `folder`; it is on disk when the call returns. An existing file is written again, because it may
// have been damaged.
Result<wire::Artefact> import_artefact(const FilePart& part, const std::filesystem::path& folder,
                                       const LookAt& look = {});

}  // namespace starling::server
