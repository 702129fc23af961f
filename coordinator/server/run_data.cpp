#include "coordinator/server/run_data.h"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

#include "coordinator/dataset/digest_file.h"
#include "coordinator/dataset/out_folder.h"
#include "coordinator/dataset/progress.h"
#include "coordinator/server/artefact_import.h"
#include "shared/base/files.h"
#include "shared/base/words.h"
#include "shared/wire/safetensors.h"

namespace starling::server {
namespace {

// Number of tokens or samples in a file of that kind, according to its head.
Result<std::int64_t> items_of(wire::DataKind kind, const std::filesystem::path& file) {
  STARLING_ASSIGN(const auto tensors, read_tensor_file_head(file));
  const std::string_view name = kind == wire::DataKind::tokens ? "tokens" : "labels";
  const wire::TensorInfo* tensor = wire::find_tensor(tensors, name);
  if (tensor != nullptr) return tensor->elements();
  return Error{ErrorCode::invalid_argument, fmt::format("'{}' holds no data of kind '{}': it has no tensor '{}'",
                                                        file.string(), word_of(kind), name)};
}

// Takes over training and held-out bytes of the operator's files: two files, or two parts of one.
Status take_files_over(wire::DataOptions& data, const manifest::ManifestSource& source,
                       const std::filesystem::path& folder) {
  if (data.kind != wire::DataKind::bytes) {
    STARLING_ASSIGN(data.train_items, items_of(data.kind, source.train));
    STARLING_ASSIGN(data.validation_items, items_of(data.kind, source.validation));
  }
  FilePart train{.file = source.train};
  FilePart validation{.file = source.validation};
  if (source.validation.empty()) {
    STARLING_ASSIGN(const std::int64_t bytes, file_bytes(source.train));
    validation.file = source.train;
    train.bytes = bytes - static_cast<std::int64_t>(static_cast<double>(bytes) * source.validation_fraction);
    validation.offset = train.bytes;
  } else {
    STARLING_TRY(file_bytes(source.validation).status());
    STARLING_TRY(file_bytes(source.train).status());
  }
  STARLING_ASSIGN(data.train, import_artefact(train, folder));
  STARLING_ASSIGN(data.validation, import_artefact(validation, folder));
  return {};
}

Status take_over(const wire::Artefact& wanted, const std::filesystem::path& file, const std::filesystem::path& folder) {
  STARLING_ASSIGN(const wire::Artefact found, import_artefact({.file = file}, folder));
  if (found == wanted) return {};
  return Error{ErrorCode::corrupt,
               fmt::format("'{}' is not the file that the listing beside it names: its content has another digest",
                           file.string())};
}

// Takes the tokenizer from beside the listing: under its own name if just prepared, under its digest if an earlier run
// kept it.
Status take_tokenizer_over(const wire::Artefact& tokenizer, const std::filesystem::path& from,
                           const std::filesystem::path& folder) {
  const std::filesystem::path kept = from / tokenizer.sha256.hex();
  return take_over(tokenizer, std::filesystem::exists(kept) ? kept : from / dataset::kTokenizerName, folder);
}

// Refuses data with tokens beyond the model's vocabulary: they would end every volunteer's first micro-batch.
Status check_vocabulary(const wire::RunManifest& manifest, const std::filesystem::path& held_out) {
  STARLING_ASSIGN(const auto tensors, read_tensor_file_head(held_out));
  const wire::TensorInfo* words = wire::find_tensor(tensors, "word_starts");
  if (words == nullptr || words->elements() <= manifest.model.vocabulary) return {};
  return Error{ErrorCode::invalid_argument,
               fmt::format("the listed shards have a vocabulary of {} tokens, and model.vocabulary is {}",
                           words->elements(), manifest.model.vocabulary)};
}

Status take_shards_over(wire::RunManifest& manifest, const std::filesystem::path& listing,
                        const std::filesystem::path& folder) {
  STARLING_ASSIGN(const std::string json, read_file(listing, wire::kListingBytesMax));
  auto listed = wire::decode_listing(json);
  if (!listed.ok()) return listed.error().prefixed(fmt::format("'{}'", listing.string()));
  wire::DataOptions& data = manifest.data;
  if (listed->kind != data.kind) {
    return Error{ErrorCode::invalid_argument, fmt::format("data.kind is '{}', and the shards listed in '{}' are '{}'",
                                                          word_of(data.kind), listing.string(), word_of(listed->kind))};
  }
  data.shards = std::move(listed->shards);
  data.validation = listed->validation;
  data.validation_items = listed->validation_items;
  data.tokenizer = listed->tokenizer;
  const std::filesystem::path from = listing.parent_path();
  STARLING_TRY(take_over(data.validation, from / data.validation.sha256.hex(), folder));
  if (data.tokenizer != wire::Artefact()) STARLING_TRY(take_tokenizer_over(data.tokenizer, from, folder));
  if (data.kind == wire::DataKind::tokens)
    STARLING_TRY(check_vocabulary(manifest, folder / data.validation.sha256.hex()));
  if (!data.mirrors.empty()) return {};
  dataset::Progress progress([](const std::string& line) { fmt::print(stderr, "{}\n", line); });
  progress.begin("taking shards over", static_cast<std::int64_t>(data.shards.size()), "files");
  for (std::size_t i = 0; i < data.shards.size(); ++i) {
    STARLING_TRY(take_over(data.shards[i].file, from / data.shards[i].file.sha256.hex(), folder));
    progress.advance_to(static_cast<std::int64_t>(i + 1));
  }
  return {};
}

}  // namespace

Status take_data_over(manifest::OperatorManifest& wanted, const std::filesystem::path& folder) {
  if (wanted.source.shards.empty()) return take_files_over(wanted.manifest.data, wanted.source, folder);
  return take_shards_over(wanted.manifest, wanted.source.shards, folder);
}

Status record_artefacts(db::ArtefactStore& artefacts, const manifest::OperatorManifest& wanted) {
  const wire::DataOptions& data = wanted.manifest.data;
  const manifest::ManifestSource& source = wanted.source;
  const std::string train = (source.shards.empty() ? source.train : source.shards).filename().string();
  const std::string held_out =
      source.validation.empty() ? train + " (held out)" : source.validation.filename().string();
  if (data.shards.empty()) STARLING_TRY(artefacts.add({data.train.sha256, data.train.bytes, train}));
  if (data.mirrors.empty()) {
    for (const wire::Shard& shard : data.shards) {
      STARLING_TRY(artefacts.add({shard.file.sha256, shard.file.bytes, train}));
    }
  }
  if (data.tokenizer != wire::Artefact()) {
    STARLING_TRY(artefacts.add({data.tokenizer.sha256, data.tokenizer.bytes, train + " (tokenizer)"}));
  }
  return artefacts.add({data.validation.sha256, data.validation.bytes, held_out});
}

Result<std::filesystem::path> keep_listing(const wire::DataOptions& data, const std::filesystem::path& folder) {
  wire::DataOptions listed = data;
  listed.mirrors.clear();
  listed.mirror_ca.clear();
  listed.shard_rounds = wire::DataOptions().shard_rounds;
  listed.sampling = wire::DataOptions().sampling;
  STARLING_ASSIGN(dataset::DigestFile file, dataset::DigestFile::create(folder));
  STARLING_TRY(file.write(wire::encode_listing(listed)));
  STARLING_ASSIGN(const wire::Artefact artefact, file.finish());
  return folder / artefact.sha256.hex();
}

}  // namespace starling::server
