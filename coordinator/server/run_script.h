// Takes a model of the operator's own into the project: its program is copied, and never run or unpacked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "db/stores/training_stores.h"
#include "shared/base/result.h"
#include "shared/manifest/operator_manifest.h"

namespace starling::server {

// Copies both files into `folder`, under the names of their digests. The manifest's list of parameters is taken from
// their file's head.
Status import_script(const manifest::ManifestSource& source, const std::filesystem::path& folder,
                     wire::ScriptModel& script);
// The error names a call of random numbers in the program: volunteers' work on it could not be checked.
Status check_audited_script(const manifest::ManifestSource& source);
// The first such call in a program's archive; empty if there is none.
std::string random_call_in(std::string_view program);
// Records the artefacts in the database; call it afterwards.
Status record_script(db::ArtefactStore& artefacts, const manifest::OperatorManifest& wanted);

}  // namespace starling::server
