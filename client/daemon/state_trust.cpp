#include "client/daemon/state_trust.h"

#include "shared/base/log.h"
#include "shared/manifest/signed_report.h"

namespace starling::daemon {

session::StateTrust trust_of(const RunContext& context, const storage::KnownState& known) {
  session::StateTrust trust;
  const RunId run_id = context.manifest.run_id;
  trust.verify = [run_id, root = context.root,
                  key_number = context.key_number](const wire::StateProof& proof) -> Result<manifest::ProvenStates> {
    STARLING_ASSIGN(manifest::ProvenStates proven, manifest::verify_proof(proof, run_id, root));
    if (proven.key_number >= key_number) return proven;
    return Error{ErrorCode::permission_denied, "the project's statement is signed with a key that it has replaced"};
  };
  trust.known = {{known.round, known.state_digest}, known.serial};
  trust.remember = [run_id, folder = context.folder](const session::KnownState& now_known) {
    const Status saved =
        storage::save_known_state(folder, run_id, {now_known.state.round, now_known.state.digest, now_known.serial});
    if (!saved.ok()) log_warning("keep which state of the run is known: {}", saved.error().message);
  };
  return trust;
}

storage::KnownState known_state(const std::filesystem::path& folder, const RunId& run_id) {
  const auto known = storage::load_known_state(folder, run_id);
  if (known.ok()) return *known;
  log_warning("which state of the run was known is forgotten: {}", known.error().message);
  return {};
}

}  // namespace starling::daemon
