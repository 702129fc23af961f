// Takes a model of the operator's own into the project: its program is copied and never opened.
#pragma once

#include <filesystem>

#include "db/stores/training_stores.h"
#include "shared/base/result.h"
#include "shared/manifest/operator_manifest.h"

namespace starling::server {

// Copies both files into `folder`, under the names of their digests. The manifest's list of parameters is taken from
// their file's head.
Status import_script(const manifest::ManifestSource& source, const std::filesystem::path& folder,
                     wire::ScriptModel& script);
// Records the artefacts in the database; call it afterwards.
Status record_script(db::ArtefactStore& artefacts, const manifest::OperatorManifest& wanted);

}  // namespace starling::server
