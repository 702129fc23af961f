// A run's data on its way from the operator's files into the project.
#pragma once

#include <filesystem>

#include "db/stores/stores.h"
#include "shared/base/result.h"
#include "shared/manifest/operator_manifest.h"

namespace starling::server {

// Copies what the coordinator is to serve into `folder`, under the names of the digests, and completes the manifest's
// data: two files, two parts of one, or shards as they are listed. Of shards that have mirrors only what is held out
// and the tokenizer are copied. corrupt when a file is not the one that the listing names.
Status take_data_over(manifest::OperatorManifest& wanted, const std::filesystem::path& folder);
// Afterwards: the database knows them.
Status record_artefacts(const db::Stores& stores, const manifest::OperatorManifest& wanted);

// Writes a listing of a run's shards into `folder`, from which a further run can be made.
Result<std::filesystem::path> keep_listing(const wire::DataOptions& data, const std::filesystem::path& folder);

}  // namespace starling::server
