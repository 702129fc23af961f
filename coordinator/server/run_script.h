// A model of the operator's own on its way into the project: its program is copied and never opened.
#pragma once

#include <filesystem>

#include "db/stores/stores.h"
#include "shared/base/result.h"
#include "shared/manifest/operator_manifest.h"

namespace starling::server {

// Copies both files into `folder`, under the names of their digests; what the manifest lists of the parameters is what
// their file's head says.
Status import_script(const manifest::ManifestSource& source, const std::filesystem::path& folder,
                     wire::ScriptModel& script);
// Afterwards: the database knows them.
Status record_script(const db::Stores& stores, const manifest::OperatorManifest& wanted);

}  // namespace starling::server
