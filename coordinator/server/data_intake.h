// Looks at a new run's data while it is copied, so that a run that no volunteer could train on is never made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/dataset/held_out_search.h"
#include "coordinator/server/artefact_import.h"
#include "shared/base/result.h"
#include "shared/run/data_file.h"
#include "shared/run/run_manifest.h"

namespace starling::server {

// Takes held-out data first, then the training files, one after the other. Every Error names the file; corrupt with the
// tensor, and the sample or token, for what the rules of shared/run/data_file.h refuse.
class DataIntake {
 public:
  // `manifest` tells model and kind, and outlives this object. The copies go into `folder`, but a whole file that lies
  // in `artefacts` already, under its digest, stays there without one; empty: none does.
  DataIntake(const wire::RunManifest& manifest, std::filesystem::path folder, std::filesystem::path artefacts = {})
      : manifest_(manifest), folder_(std::move(folder)), artefacts_(std::move(artefacts)) {}

  struct Taken {
    wire::Artefact file;
    std::int64_t items = 0;  // tokens or samples
  };
  Result<Taken> held_out(const FilePart& part);
  Result<Taken> train(const FilePart& part);
  // Like train(), without a copy.
  Result<Taken> look_at_train(const FilePart& part);

  // Judges all that was taken. invalid_argument: half of the held-out data or more stands in the training data, and
  // nobody asked for that; or too many samples have values that are not finite. Returns what the operator should know.
  [[nodiscard]] Result<std::vector<std::string>> judge(bool held_out_may_repeat) const;

 private:
  // A file, or a part of one, as it is being read.
  struct Look {
    wire::DataParts parts;
    wire::DataPass pass;
  };
  Result<Look> begin(const FilePart& part);
  LookAt through(const FilePart& part, Look& look);
  // Reads all of it; the second with a copy, if it needs one.
  Result<wire::Artefact> read(const FilePart& part, Look& look);
  Result<wire::Artefact> take(const FilePart& part, Look& look);
  [[nodiscard]] bool is_artefact(const FilePart& part) const;
  void end(const FilePart& part, const Look& look);

  const wire::RunManifest& manifest_;
  std::filesystem::path folder_;
  std::filesystem::path artefacts_;
  std::optional<wire::DataParts> held_out_;  // once all of it is read
  std::optional<dataset::HeldOutSearch> search_;
  // Where held-out data was first found.
  struct Repeated {
    std::filesystem::path held_out;
    std::filesystem::path train;  // empty: it was not found yet
    std::int64_t at = 0;          // token, byte or sample
  };
  Repeated repeated_;
  // Samples with values that are not finite, of all files.
  struct NotFinite {
    std::int64_t samples = 0, of = 0;
    std::string first;  // file and sample
  };
  NotFinite not_finite_;
};

}  // namespace starling::server
