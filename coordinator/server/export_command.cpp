#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/server/artefact_import.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/data_notes.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/run/cells.h"
#include "shared/run/hugging_face.h"
#include "shared/run/model_layout.h"
#include "shared/text/tokenizer.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

std::string_view bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// corrupt when the file's digest is not its name.
Result<std::string> read_artefact(const Project& project, const wire::Artefact& artefact) {
  const std::filesystem::path file = project.files.artefacts() / artefact.sha256.hex();
  STARLING_ASSIGN(std::string bytes, read_file(file, static_cast<std::size_t>(artefact.bytes)));
  if (crypto::sha256(bytes) == artefact.sha256) return bytes;
  return Error{ErrorCode::corrupt, fmt::format("'{}' is damaged: its digest is not its name", file.string())};
}

// The parameters of the newest copy of the state that the swarm sent.
Result<std::vector<float>> kept_parameters(const Project& project, const db::KeptCheckpoint& kept,
                                           const wire::RunManifest& manifest) {
  const std::size_t floats = wire::parameter_count(manifest.model);
  if (kept.bytes != static_cast<std::int64_t>(wire::state_size(manifest) * sizeof(float))) {
    return Error{ErrorCode::corrupt, fmt::format("'{}' is not a state of this run's model", kept.artefact.hex())};
  }
  STARLING_ASSIGN(const std::string state, read_artefact(project, {kept.artefact, kept.bytes}));
  std::vector<float> parameters(floats);
  state.copy(reinterpret_cast<char*>(parameters.data()), floats * sizeof(float));
  return parameters;
}

// The parameters of the whole model, of which each piece is kept by itself.
Result<std::vector<float>> joined_parameters(const Project& project, const db::Stores& stores,
                                             const wire::RunManifest& manifest) {
  std::vector<float> parameters;
  const auto cells = static_cast<wire::ModelPiece>(wire::cells_of(manifest.model).size());
  for (wire::ModelPiece piece = wire::kTrunk; piece < cells; ++piece) {
    const wire::RunManifest part = wire::piece_of(manifest, piece);
    STARLING_ASSIGN(const auto kept, stores.training.checkpoints.newest(part.run_id));
    if (!kept) {
      return Error{ErrorCode::not_found,
                   fmt::format("no copy of cell {} of run '{}' has arrived yet, so the model is not whole: volunteers "
                               "send one about every {} rounds (checkpoint_rounds in its manifest)",
                               piece, manifest.run_id, manifest.checkpoint_rounds)};
    }
    STARLING_ASSIGN(const std::vector<float> values, kept_parameters(project, *kept, part));
    parameters.insert(parameters.end(), values.begin(), values.end());
  }
  return parameters;
}

Status write_model(wire::ExportedModel model, const db::KeptCheckpoint& kept, const std::filesystem::path& folder) {
  STARLING_TRY(ensure_directory(folder, 0755));
  const std::string head = wire::encode_tensor_head(
      model.tensors, {{"format", "pt"}, {"run_id", kept.run_id}, {"round", std::to_string(kept.round)}});
  std::vector<std::string_view> pieces = {head};
  for (const std::vector<float>& values : model.values) pieces.push_back(bytes_of(values));
  STARLING_TRY(write_file_atomically(folder / "model.safetensors", pieces));
  return write_file_atomically(folder / "config.json", model.config + "\n");
}

// Writes the files that turn text into the model's tokens, in the format of transformers.
Status write_tokenizer(const Project& project, const wire::RunManifest& manifest, const std::filesystem::path& folder) {
  if (manifest.data.kind != wire::DataKind::tokens) return {};
  if (manifest.data.tokenizer == wire::Artefact()) {
    fmt::print(
        "what made its tokens of text this run does not say: its data were not prepared by `data prepare`, or by "
        "one before Starling's manifests named tokenizers\n");
    return {};
  }
  STARLING_ASSIGN(const std::string model, read_artefact(project, manifest.data.tokenizer));
  STARLING_ASSIGN(const text::Tokenizer tokenizer, text::Tokenizer::from_model(model));
  std::vector<std::string> marks;
  for (int mark = 0; mark < wire::kReservedTokens; ++mark) marks.push_back(tokenizer.piece(mark));
  STARLING_TRY(write_file_atomically(folder / wire::kTokenizerFile, model));
  STARLING_TRY(write_file_atomically(folder / "tokenizer_config.json",
                                     wire::export_tokenizer_config(manifest.model, marks) + "\n"));
  fmt::print("its tokens are made by {}, a SentencePiece model; for transformers, tokenizer_config.json says how\n",
             wire::kTokenizerFile);
  return {};
}

// Writes which label is which, where the listing of the shards said it.
Status write_class_names(const db::ArtefactStore& store, const Project& project, const wire::DataOptions& data,
                         const std::filesystem::path& folder) {
  STARLING_ASSIGN(const auto names, kept_class_names(store, data, project.files.artefacts()));
  if (names.empty()) return {};
  wire::JsonWriter writer;
  writer.open("", '[');
  for (const std::string& name : names) writer.text("", name);
  writer.close(']');
  STARLING_TRY(write_file_atomically(folder / "classes.json", writer.str() + "\n"));
  fmt::print("classes.json has the names of its {} classes, in the order of their labels\n", names.size());
  return {};
}

}  // namespace

Status export_run(const ExportOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  STARLING_ASSIGN(const db::Run run, stores.training.runs.find(options.run));
  STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(run.manifest_envelope));
  STARLING_ASSIGN(const auto manifest, manifest::verify_manifest(envelope, project.root));
  STARLING_ASSIGN(const auto kept, stores.training.checkpoints.newest(run.run_id));
  if (!kept) {
    return Error{ErrorCode::not_found,
                 fmt::format("no copy of the state of run '{}' has arrived yet: volunteers send one about every {} "
                             "rounds (checkpoint_rounds in its manifest)",
                             run.run_id, manifest.checkpoint_rounds)};
  }
  STARLING_ASSIGN(const std::vector<float> parameters, wire::has_cells(manifest.model)
                                                           ? joined_parameters(project, stores, manifest)
                                                           : kept_parameters(project, *kept, manifest));
  STARLING_TRY(write_model(wire::export_model(manifest.model, manifest.data.kind, parameters), *kept, options.folder));
  fmt::print("the model of run '{}' at round {} is in '{}': model.safetensors, config.json\n", run.run_id, kept->round,
             options.folder.string());
  STARLING_TRY(write_tokenizer(project, manifest, options.folder));
  STARLING_TRY(write_class_names(stores.training.artefacts, project, manifest.data, options.folder));
  if (wire::has_program(manifest.model)) {
    STARLING_ASSIGN(const std::string bytes, read_artefact(project, manifest.model.script.program));
    STARLING_TRY(write_file_atomically(options.folder / "model.pt", bytes));
    fmt::print("model.pt is your program as it was; model.safetensors is the state that its parameters have learnt\n");
  } else if (wire::is_for_transformers(manifest.model)) {
    fmt::print("Hugging Face's transformers open it: AutoModel.from_pretrained('{}')\n", options.folder.string());
  } else {
    fmt::print(
        "its tensors have Starling's names; only a gpt with learned positions, gelu and recent = 0, and an "
        "albert, have Hugging Face's\n");
  }
  return {};
}

}  // namespace starling::server
