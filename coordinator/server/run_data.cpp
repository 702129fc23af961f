#include "coordinator/server/run_data.h"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

#include "coordinator/dataset/digest_file.h"
#include "coordinator/dataset/out_folder.h"
#include "coordinator/dataset/progress.h"
#include "coordinator/server/artefact_import.h"
#include "coordinator/server/data_intake.h"
#include "shared/base/files.h"
#include "shared/base/plain_text.h"
#include "shared/base/words.h"

namespace starling::server {
namespace {

// Takes over training and held-out bytes of the operator's files: two files, or two parts of one.
Status take_files_over(DataIntake& intake, wire::DataOptions& data, const manifest::ManifestSource& source) {
  FilePart train{.file = source.train};
  FilePart validation{.file = source.validation};
  if (source.validation.empty()) {
    STARLING_ASSIGN(const std::int64_t bytes, file_bytes(source.train));
    validation.file = source.train;
    train.bytes = bytes - static_cast<std::int64_t>(static_cast<double>(bytes) * source.validation_fraction);
    validation.offset = train.bytes;
  }
  STARLING_TRY(file_bytes(train.file).status());
  STARLING_ASSIGN(const DataIntake::Taken held_out, intake.held_out(validation));
  STARLING_ASSIGN(const DataIntake::Taken trained, intake.train(train));
  data.validation = held_out.file;
  data.train = trained.file;
  if (data.kind == wire::DataKind::bytes) return {};
  data.validation_items = held_out.items;
  data.train_items = trained.items;
  return {};
}

Error not_as_listed(const std::filesystem::path& file, std::string_view why) {
  return {ErrorCode::corrupt,
          fmt::format("'{}' is not the file that the listing beside it names: {}", file.string(), why)};
}

Status check_listed(const DataIntake::Taken& found, const wire::Artefact& wanted, std::int64_t items,
                    const std::filesystem::path& file) {
  if (found.file != wanted) return not_as_listed(file, "its content has another digest");
  if (found.items == items) return {};
  return not_as_listed(file, fmt::format("it has {} tokens or samples instead of {}", found.items, items));
}

Status take_over(const wire::Artefact& wanted, const std::filesystem::path& file, const std::filesystem::path& folder) {
  STARLING_ASSIGN(const wire::Artefact found, import_artefact({.file = file}, folder));
  return found == wanted ? Status() : not_as_listed(file, "its content has another digest");
}

// Takes the tokenizer from beside the listing: under its own name if just prepared, under its digest if an earlier run
// kept it.
Status take_tokenizer_over(const wire::Artefact& tokenizer, const std::filesystem::path& from,
                           const std::filesystem::path& folder) {
  const std::filesystem::path kept = from / tokenizer.sha256.hex();
  return take_over(tokenizer, std::filesystem::exists(kept) ? kept : from / dataset::kTokenizerName, folder);
}

// Looks at shards that mirrors serve, as far as they lie beside the listing.
Status look_at_mirrored(DataIntake& intake, const std::vector<wire::Shard>& shards, const std::filesystem::path& from,
                        dataset::Progress& progress) {
  std::size_t elsewhere = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::filesystem::path file = from / shards[i].file.sha256.hex();
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown)) {
      STARLING_ASSIGN(const DataIntake::Taken found, intake.look_at_train({.file = file}));
      STARLING_TRY(check_listed(found, shards[i].file, shards[i].items, file));
    } else {
      elsewhere += 1;
    }
    progress.advance_to(static_cast<std::int64_t>(i + 1));
  }
  if (elsewhere > 0) {
    fmt::print(stderr,
               "{} of {} shards do not lie beside the listing: nobody has looked whether they can be trained on\n",
               elsewhere, shards.size());
  }
  return {};
}

Status take_shards_over(DataIntake& intake, wire::RunManifest& manifest, const std::filesystem::path& listing,
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
  const std::filesystem::path held_out = from / data.validation.sha256.hex();
  STARLING_ASSIGN(const DataIntake::Taken taken, intake.held_out({.file = held_out}));
  STARLING_TRY(check_listed(taken, data.validation, data.validation_items, held_out));
  if (data.tokenizer != wire::Artefact()) STARLING_TRY(take_tokenizer_over(data.tokenizer, from, folder));
  dataset::Progress progress([](const std::string& line) { fmt::print(stderr, "{}\n", line); });
  progress.begin(data.mirrors.empty() ? "taking shards over" : "looking at shards",
                 static_cast<std::int64_t>(data.shards.size()), "files");
  if (!data.mirrors.empty()) return look_at_mirrored(intake, data.shards, from, progress);
  for (std::size_t i = 0; i < data.shards.size(); ++i) {
    const wire::Shard& shard = data.shards[i];
    const std::filesystem::path file = from / shard.file.sha256.hex();
    STARLING_ASSIGN(const DataIntake::Taken found, intake.train({.file = file}));
    STARLING_TRY(check_listed(found, shard.file, shard.items, file));
    progress.advance_to(static_cast<std::int64_t>(i + 1));
  }
  return {};
}

}  // namespace

Status take_data_over(manifest::OperatorManifest& wanted, const std::filesystem::path& folder, bool held_out_may_repeat,
                      const std::filesystem::path& artefacts) {
  DataIntake intake(wanted.manifest, folder, artefacts);
  STARLING_TRY(wanted.source.shards.empty() ? take_files_over(intake, wanted.manifest.data, wanted.source)
                                            : take_shards_over(intake, wanted.manifest, wanted.source.shards, folder));
  STARLING_ASSIGN(const auto notes, intake.judge(held_out_may_repeat));
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", plain_line(note));
  return {};
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
