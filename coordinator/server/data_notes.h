// Things that an operator is told of a run's data beside their figures, and those that are kept for later.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "db/stores/training_stores.h"
#include "shared/base/result.h"
#include "shared/manifest/operator_manifest.h"

namespace starling::server {

// Sentences about files whose bytes a model is to learn although they begin like no text.
std::vector<std::string> notes_on_bytes(const manifest::OperatorManifest& wanted);

// invalid_argument: the model guesses left-out words, and the tokenizer of its data has another mark than the mask in
// its place. `artefacts` has the tokenizer.
Status check_mask(const wire::RunManifest& manifest, const std::filesystem::path& artefacts);

// Keeps the names of the classes in the listing of the run's shards, if it has them, as an artefact of the project: a
// manifest has their number only. They belong to the held-out file, so that other runs on these data find them, too.
Status keep_class_names(db::ArtefactStore& store, const manifest::OperatorManifest& wanted,
                        const std::filesystem::path& artefacts);
// The names in the order of their labels; none where they were not kept.
Result<std::vector<std::string>> kept_class_names(const db::ArtefactStore& store, const wire::DataOptions& data,
                                                  const std::filesystem::path& artefacts);

}  // namespace starling::server
