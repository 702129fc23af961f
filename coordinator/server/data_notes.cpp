#include "coordinator/server/data_notes.h"

#include <fmt/core.h>

#include <algorithm>

#include "coordinator/dataset/digest_file.h"
#include "coordinator/dataset/listing.h"
#include "coordinator/dataset/text_check.h"
#include "shared/base/files.h"
#include "shared/run/model_layout.h"
#include "shared/text/tokenizer.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

// Room for the names and for the digest beside them.
constexpr std::size_t kNamesFileBytesMax = 2 * dataset::kClassNamesBytesMax;

std::string artefact_name(const wire::DataOptions& data) {
  return fmt::format("names of the classes of {}", data.validation.sha256.hex());
}

}  // namespace

std::vector<std::string> notes_on_bytes(const manifest::OperatorManifest& wanted) {
  std::vector<std::string> notes;
  if (wanted.manifest.data.kind != wire::DataKind::bytes) return notes;
  for (const std::filesystem::path& file : {wanted.source.train, wanted.source.validation}) {
    const std::string why = dataset::why_no_text(file);
    if (!why.empty()) notes.push_back(fmt::format("{}: the model learns its bytes as they are, not its text", why));
  }
  return notes;
}

Status check_mask(const wire::RunManifest& manifest, const std::filesystem::path& artefacts) {
  const wire::Artefact& tokenizer = manifest.data.tokenizer;
  if (manifest.model.architecture != wire::Architecture::albert || tokenizer == wire::Artefact()) return {};
  STARLING_ASSIGN(const std::string model, read_file(artefacts / tokenizer.sha256.hex(), wire::kTokenizerBytesMax));
  STARLING_ASSIGN(const text::Tokenizer opened, text::Tokenizer::from_model(model));
  if (opened.has_mask()) return {};
  constexpr int kMask = 4;
  return Error{ErrorCode::invalid_argument,
               fmt::format("the tokenizer of the data has '{}' as token 4, and an albert needs a mask there, [MASK] or "
                           "<mask>: prepare the text with another tokenizer",
                           opened.piece(kMask))};
}

Status keep_class_names(db::ArtefactStore& store, const manifest::OperatorManifest& wanted,
                        const std::filesystem::path& artefacts) {
  if (wanted.source.shards.empty()) return {};
  STARLING_ASSIGN(const std::string listing, read_file(wanted.source.shards, wire::kListingBytesMax));
  STARLING_ASSIGN(const std::vector<std::string> names, dataset::class_names_of(listing));
  if (names.empty()) return {};
  const wire::DataOptions& data = wanted.manifest.data;
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.open("classes", '[');
  for (const std::string& name : names) writer.text("", name);
  writer.close(']');
  writer.text("held_out", data.validation.sha256.hex());  // equal names of other data are another artefact
  writer.close('}');
  STARLING_ASSIGN(dataset::DigestFile file, dataset::DigestFile::create(artefacts));
  STARLING_TRY(file.write(writer.str()));
  STARLING_ASSIGN(const wire::Artefact kept, file.finish());
  return store.add({kept.sha256, kept.bytes, artefact_name(data)});
}

Result<std::vector<std::string>> kept_class_names(const db::ArtefactStore& store, const wire::DataOptions& data,
                                                  const std::filesystem::path& artefacts) {
  STARLING_ASSIGN(const std::vector<db::ArtefactRecord> all, store.list());
  const std::string name = artefact_name(data);
  const auto kept = std::find_if(all.begin(), all.end(), [&name](const auto& record) { return record.name == name; });
  if (kept == all.end()) return std::vector<std::string>();
  STARLING_ASSIGN(const std::string json, read_file(artefacts / kept->digest.hex(), kNamesFileBytesMax));
  return dataset::class_names_of(json);
}

}  // namespace starling::server
