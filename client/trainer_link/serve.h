// The child's end of the link: the whole life of a trainer process, apart from what it computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "client/optim/step_journal.h"
#include "client/session/trainer.h"
#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"

namespace starling::trainer_link {

// Everything a trainer works on. Outlives it.
struct TrainerResources {
  wire::RunManifest manifest;
  std::span<const std::uint8_t> train_bytes;  // the artefacts of the manifest, read-only
  std::span<const std::uint8_t> validation_bytes;
  std::span<float> state;                 // shared with the daemon
  optim::StepJournal* journal = nullptr;  // shared with the daemon
  int threads = 1;
};

using TrainerFactory = std::function<Result<std::unique_ptr<session::Trainer>>(const TrainerResources&)>;

// For main: confines this process, makes the trainer, and serves its daemon until that closes the channel.
// Returns the exit code. A person who starts the program by hand gets an explanation instead.
int serve_trainer(int argc, char** argv, const TrainerFactory& factory);

}  // namespace starling::trainer_link
