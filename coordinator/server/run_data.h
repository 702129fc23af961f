// Takes a run's data from the operator's files into the project.
#pragma once

#include <filesystem>

#include "db/stores/training_stores.h"
#include "shared/base/result.h"
#include "shared/manifest/operator_manifest.h"

namespace starling::server {

// Copies the files that the coordinator will serve into `folder`, under the names of their digests, and completes the
// manifest's data: two files, two parts of one, or the shards in a listing. If shards have mirrors, only held-out data
// and the tokenizer are copied, and those shards looked at that lie beside the listing. corrupt when a file is not the
// one that the listing names, or, with the file, tensor and sample, when no volunteer could train on it (DataIntake).
// Data files that lie in `artefacts`, those of the project, are not copied once more: a clone takes its run's.
Status take_data_over(manifest::OperatorManifest& wanted, const std::filesystem::path& folder,
                      bool held_out_may_repeat = false, const std::filesystem::path& artefacts = {});
// Records the artefacts in the database; call it afterwards.
Status record_artefacts(db::ArtefactStore& artefacts, const manifest::OperatorManifest& wanted);

// Writes a listing of a run's shards into `folder`, from which a further run can be made.
Result<std::filesystem::path> keep_listing(const wire::DataOptions& data, const std::filesystem::path& folder);

}  // namespace starling::server
