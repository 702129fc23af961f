#include "coordinator/server/run_beginning.h"

#include <fmt/core.h>

#include <vector>

#include "shared/base/log.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/run/cells.h"
#include "shared/state/initial_state.h"

namespace starling::server {
namespace {

Status sign_beginning(const Project& project, const operations::Desk& desk, const db::Run& run) {
  STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(run.manifest_envelope));
  STARLING_ASSIGN(wire::RunManifest manifest, manifest::verify_manifest(envelope, project.root));
  if (!begins_unsigned(run, manifest)) return {};
  STARLING_TRY(name_initial_state(manifest, project.files.artefacts()));
  STARLING_ASSIGN(const auto anew, manifest::sign_manifest(manifest, {project.manifest_key, project.key_certificate}));
  STARLING_TRY(desk.stores.training.runs.set_envelope(run.run_id, manifest::encode_envelope(anew)));
  STARLING_TRY(operations::note(desk, "run sign", run.run_id, "the state that it begins with"));
  log_info("run '{}' is signed anew: it begins with state {}", run.run_id, manifest.initial_state_digest.brief());
  return {};
}

}  // namespace

Status name_initial_state(wire::RunManifest& manifest, const std::filesystem::path& artefacts) {
  if (wire::has_cells(manifest.model)) {
    std::vector<Digest>& digests = manifest.model.experts.cells.digests;
    digests.clear();
    const std::size_t count = wire::cells_of(manifest.model).size();
    for (std::size_t cell = 0; cell < count; ++cell) {
      const auto number = static_cast<wire::CellIndex>(cell);
      digests.push_back(state::initial_state_digest(wire::piece_of(manifest, number)));
    }
    manifest.initial_state_digest = state::initial_state_digest(wire::piece_of(manifest, wire::kTrunk));
    return {};
  }
  if (!wire::has_program(manifest.model)) {
    manifest.initial_state_digest = state::initial_state_digest(manifest);
    return {};
  }
  const auto file = state::open_parameters(artefacts / manifest.model.script.parameters.sha256.hex());
  const auto digest = file ? state::initial_state_digest(manifest, *file) : Result<Digest>(file.error());
  if (!digest) return digest.error().prefixed("compute the state that the run begins with");
  manifest.initial_state_digest = *digest;
  return {};
}

bool begins_unsigned(const db::Run& run, const wire::RunManifest& manifest) {
  return run.round == 0 && manifest.initial_state_digest.is_zero();
}

Status sign_beginnings(const Project& project, const operations::Desk& desk) {
  STARLING_ASSIGN(const auto runs, desk.stores.training.runs.list());
  for (const db::Run& run : runs) {
    if (run.round > 0) continue;
    const Status done = sign_beginning(project, desk, run);
    if (!done.ok()) log_error("run '{}' can not be signed anew: {}", run.run_id, done.error().message);
  }
  return {};
}

}  // namespace starling::server
