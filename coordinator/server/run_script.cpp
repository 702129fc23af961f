#include "coordinator/server/run_script.h"

#include <fmt/core.h>

#include <utility>

#include "coordinator/server/artefact_import.h"

namespace starling::server {

Status import_script(const manifest::ManifestSource& source, const std::filesystem::path& folder,
                     wire::ScriptModel& script) {
  STARLING_ASSIGN(auto tensors, read_tensor_file_head(source.parameters));
  for (wire::TensorInfo& tensor : tensors) {
    if (tensor.type != wire::TensorType::f32) {
      return Error{ErrorCode::invalid_argument,
                   fmt::format("'{}': tensor '{}' is {}, and parameters are F32", source.parameters.string(),
                               tensor.name, wire::to_string(tensor.type))};
    }
    script.tensors.push_back({std::move(tensor.name), std::move(tensor.shape)});
  }
  STARLING_ASSIGN(script.program, import_artefact({.file = source.program}, folder));
  STARLING_ASSIGN(script.parameters, import_artefact({.file = source.parameters}, folder));
  return {};
}

Status record_script(db::ArtefactStore& artefacts, const manifest::OperatorManifest& wanted) {
  const wire::ScriptModel& script = wanted.manifest.model.script;
  STARLING_TRY(artefacts.add({script.program.sha256, script.program.bytes, wanted.source.program.filename().string()}));
  return artefacts.add(
      {script.parameters.sha256, script.parameters.bytes, wanted.source.parameters.filename().string()});
}

}  // namespace starling::server
