#include "coordinator/server/data_notes.h"

#include <doctest/doctest.h>

#include <array>
#include <fstream>

#include "coordinator/dataset/listing.h"
#include "coordinator/server/project.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "tests/coordinator/server/server_harness.h"
#include "tests/support/tokenizer_model.h"

namespace starling::server::testing {
namespace {

using starling::testing::TempDir;
using starling::testing::tokenizer_model;

// A run whose labelled data are listed with the names of their classes. `name`: of the held-out file.
manifest::OperatorManifest listed_run(const TempDir& folder, const std::string& name, bool with_names) {
  manifest::OperatorManifest wanted;
  wire::DataOptions& data = wanted.manifest.data;
  data.kind = wire::DataKind::labelled;
  data.shards = {{{crypto::sha256("shard"), 1000}, 10}};
  data.validation = {crypto::sha256(name), 1000};
  data.validation_items = 10;
  const std::array<dataset::ImageClass, 2> classes = {{{"cat", 1}, {"m\u00f6we", 2}}};
  wanted.source.shards = folder / (name + ".json");
  std::ofstream(wanted.source.shards) << (with_names ? dataset::encode_listing(data, classes)
                                                     : wire::encode_listing(data));
  return wanted;
}

}  // namespace

TEST_CASE("a run of bytes is told that its files begin like no text") {
  const TempDir folder;
  manifest::OperatorManifest wanted;
  wanted.manifest.data.kind = wire::DataKind::bytes;
  wanted.source.train = folder / "train";
  wanted.source.validation = folder / "held_out";
  std::ofstream(wanted.source.train) << "some words";
  std::ofstream(wanted.source.validation, std::ios::binary) << "\xff\xfe" << 'a' << '\0';
  const auto notes = notes_on_bytes(wanted);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("held_out' is in UTF-16") != std::string::npos);
  wanted.source.validation.clear();
  CHECK(notes_on_bytes(wanted).empty());
  std::ofstream(wanted.source.train, std::ios::binary) << "\x1f\x8b";
  CHECK(notes_on_bytes(wanted).size() == 1);
  wanted.manifest.data.kind = wire::DataKind::tokens;
  CHECK(notes_on_bytes(wanted).empty());
}

TEST_CASE("an albert needs a tokenizer with a mask, a gpt does not") {
  const TempDir artefacts;
  wire::RunManifest manifest;
  const auto use = [&](const std::string& fourth) {
    const std::string model = tokenizer_model(60, true, fourth);
    manifest.data.tokenizer = {crypto::sha256(model), static_cast<std::int64_t>(model.size())};
    REQUIRE(write_file_atomically(artefacts / manifest.data.tokenizer.sha256.hex(), model).ok());
  };
  manifest.model.architecture = wire::Architecture::albert;
  CHECK(check_mask(manifest, artefacts.path()).ok());
  use("[MASK]");
  CHECK(check_mask(manifest, artefacts.path()).ok());
  use("<sep>");
  const Status refused = check_mask(manifest, artefacts.path());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("'<sep>'") != std::string::npos);
  manifest.model.architecture = wire::Architecture::gpt;
  CHECK(check_mask(manifest, artefacts.path()).ok());
}

TEST_CASE("names of classes are kept with the data, and found by every run on these") {
  const TestServer server;
  const Project project = load_project(server.directory).value();
  const auto database = open_database(project).value();
  db::ArtefactStore& store = database->stores().training.artefacts;
  const auto artefacts = project.files.artefacts();
  const auto keep = [&](const manifest::OperatorManifest& wanted) {
    REQUIRE(keep_class_names(store, wanted, artefacts).ok());
  };
  const auto kept = [&](const manifest::OperatorManifest& wanted) {
    const auto names = kept_class_names(store, wanted.manifest.data, artefacts);
    REQUIRE(names.ok());
    return *names;
  };
  const auto first = listed_run(server.folder, "first", true);
  CHECK(kept(first).empty());
  keep(first);
  const std::vector<std::string> names = {"cat", "m\u00f6we"};
  CHECK(kept(first) == names);
  const auto other = listed_run(server.folder, "other", false);  // by an earlier version
  keep(other);
  CHECK(kept(other).empty());
  const auto smaller = listed_run(server.folder, "smaller", true);  // those pictures at another size
  keep(smaller);
  CHECK(kept(smaller) == names);
  const auto clone = listed_run(server.folder, "first", false);
  keep(clone);
  CHECK(kept(clone) == names);
}

}  // namespace starling::server::testing
