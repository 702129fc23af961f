// A small run of a decoder with two layers of four experts, in cells of two, and the trainer of a piece of it.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "client/trainer_link/trainer_process.h"
#include "shared/run/cells.h"
#include "shared/state/initial_state.h"

namespace starling::trainer_link::testing {

inline UniqueFd file_of(const std::string& bytes) {
  UniqueFd fd(::memfd_create("data", MFD_CLOEXEC));
  REQUIRE(fd);
  REQUIRE(::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return fd;
}

inline TrainerProcessOptions decoder_run(const std::filesystem::path& program, wire::ModelPiece piece,
                                         SampleCount micro_batch) {
  std::string text;
  while (text.size() < 40'000) text += "the quick brown fox jumps over the lazy dog. ";
  TrainerProcessOptions options;
  options.program = program;
  wire::RunManifest& manifest = options.manifest;
  manifest.run_id = "fox";
  manifest.model = {.architecture = wire::Architecture::decoder, .layers = 2, .width = 32, .heads = 2, .context = 16};
  manifest.model.mlp_width = 48;
  manifest.model.experts.rows = 4;
  manifest.model.experts.cells.experts = 2;
  manifest.data.train = {{}, static_cast<std::int64_t>(text.size())};
  manifest.data.train.sha256.bytes.fill(1);
  manifest.data.validation = {{}, 2'000};
  manifest.data.validation.sha256.bytes.fill(2);
  manifest.micro_batch_size = micro_batch;
  manifest.flops_per_sample = wire::flops_per_sample(manifest.model);
  for (wire::CellIndex cell = 0; cell < 4; ++cell) {
    manifest.model.experts.cells.digests.push_back(state::initial_state_digest(wire::piece_of(manifest, cell)));
  }
  REQUIRE(wire::check_manifest(manifest).ok());
  manifest.model.experts.piece = piece;
  options.train_data = file_of(text);
  options.validation_data = file_of(text.substr(0, 2'000));
  return options;
}

}  // namespace starling::trainer_link::testing
