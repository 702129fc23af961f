// The model of the calls benchmark: a decoder whose layers all have experts, with text that is made up, and a trainer
// of one of its pieces.
#pragma once

#include <string>

#include "client/trainer_link/trainer_process.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::bench {

struct CallsModel {
  int layers = 1;
  int width = 64;
  int heads = 1;
  int context = 64;
  int mlp_width = 16;        // an expert's hidden layer
  int experts = 8;           // in a layer
  int active = 4;            // experts that a token goes through
  int experts_per_cell = 1;  // with one, every unit brings a row of its own
  int micro_batch = 16;      // samples
  int in_flight = 16;        // micro-batches at once
  int turns = 1;             // micro-batches of a window, over those at once

  [[nodiscard]] SampleCount window_samples() const { return SampleCount{micro_batch} * in_flight * turns; }
  [[nodiscard]] SampleCount window_tokens() const { return window_samples() * context; }
};

// Its numbers in one line, for a child's command line, and back.
std::string to_line(const CallsModel& model);
CallsModel calls_model_of(const std::string& line);

// The run's, whose micro-batch is a window.
wire::RunManifest calls_manifest(const CallsModel& model, wire::ModelPiece piece);
// starling-trainer beside this program. yields: as for volunteers, it only takes processor time that nobody else wants.
Result<trainer_link::TrainerProcessOptions> calls_trainer(const CallsModel& model, wire::ModelPiece piece, bool yields);

}  // namespace starling::bench
