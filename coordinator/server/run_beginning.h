// The state that a run begins with: computed here, signed with its manifest.
#pragma once

#include <filesystem>

#include "coordinator/operations/desk.h"
#include "coordinator/server/project.h"
#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"

namespace starling::server {

// The manifest, which is checked already, names it from now on. A program's parameters lie in `artefacts`. About two
// seconds for every GB of parameters, and memory for a piece of them.
Status name_initial_state(wire::RunManifest& manifest, const std::filesystem::path& artefacts);

// Whether a run still has to begin, and its manifest is from before it said with what: nobody may train it then.
bool begins_unsigned(const db::Run& run, const wire::RunManifest& manifest);

// Signs the manifests of such runs anew, which then say it. What can not be signed is logged, and its run is not
// served.
Status sign_beginnings(const Project& project, const operations::Desk& desk);

}  // namespace starling::server
