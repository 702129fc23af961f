// The state that a run begins with: computed here, signed with its manifest.
#pragma once

#include <filesystem>

#include "coordinator/operations/desk.h"
#include "coordinator/server/project.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::server {

// Adds the digest of the initial state to the manifest, which is checked already; where the model is cut into cells,
// those of the trunk's and of each cell's. A script model's parameters are in `artefacts`. Takes about two seconds for
// every GB of parameters, and memory for a piece of them.
Status name_initial_state(wire::RunManifest& manifest, const std::filesystem::path& artefacts);

// Whether a run still has to begin and its manifest does not name the initial state: nobody may train it then.
bool begins_unsigned(const db::Run& run, const wire::RunManifest& manifest);

// Signs the manifests of such runs again, with the initial state in them. A failure is logged, and the run is not
// served.
Status sign_beginnings(const Project& project, const operations::Desk& desk);

}  // namespace starling::server
