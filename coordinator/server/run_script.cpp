#include "coordinator/server/run_script.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "coordinator/server/artefact_import.h"

namespace starling::server {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::size_t kOverlapBytes = 64;  // more than a call's name

// The code in a program's archive is plain text. (Trainers look at the operators themselves and audit no program with
// random ones; here it is only told in time.)
constexpr std::array<std::string_view, 8> kRandomCalls = {
    "torch.dropout(",   "torch.feature_dropout(", "torch.alpha_dropout(", "torch.rand",
    "torch.bernoulli(", "torch.multinomial(",     "torch.normal(",        "torch.poisson("};

}  // namespace

std::string random_call_in(std::string_view program) {
  for (const std::string_view call : kRandomCalls) {
    if (program.find(call) != std::string_view::npos) return std::string(call.substr(0, call.find('(')));
  }
  return "";
}

Status check_audited_script(const manifest::ManifestSource& source) {
  std::ifstream file(source.program, std::ios::binary);
  std::string piece;
  std::string call;
  while (file && call.empty()) {
    piece.erase(0, piece.size() - std::min(piece.size(), kOverlapBytes));
    const std::size_t kept = piece.size();
    piece.resize(kept + kPieceBytes);
    file.read(piece.data() + kept, static_cast<std::streamsize>(kPieceBytes));
    piece.resize(kept + static_cast<std::size_t>(file.gcount()));
    call = random_call_in(piece);
  }
  if (call.empty()) return {};  // a file that cannot be read is told of when it is copied
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("'{}' calls {}: nobody else can draw the same random numbers, so volunteers' work on it cannot "
                  "be checked; take them out of the program, or leave audit_rate at 0",
                  source.program.string(), call)};
}

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
