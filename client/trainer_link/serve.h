// The child's end of the link: the whole life of a trainer process, apart from what it computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/optim/step_journal.h"
#include "client/session/trainer.h"
#include "shared/base/result.h"
#include "shared/wire/buckets.h"
#include "shared/wire/run_manifest.h"

namespace starling::trainer_link {

// Valid for as long as somebody holds `owner`.
struct SharedBytes {
  std::span<const std::uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

// Everything a trainer works on. Outlives it.
struct TrainerResources {
  wire::RunManifest manifest;
  std::span<const std::uint8_t> train_bytes;  // the artefacts of the manifest, read-only
  std::span<const std::uint8_t> validation_bytes;
  std::function<SharedBytes()> shard_bytes;  // of a run with shards, in place of train_bytes: the next batch's
  std::span<const std::uint8_t> program;     // of a script; empty for all other models
  std::span<float> state;                    // shared with the daemon
  // Shared with the daemon, and train_batch()'s `into`: a batch's gradient need not be added to what it holds, it may
  // be computed there.
  std::span<float> gradient;
  optim::StepJournal* journal = nullptr;  // shared with the daemon
  std::span<float> local;                 // of local steps (wire::local_state_size), shared with the daemon
  // Where parameters are mixed: a bucket of `local` has stepped, and is the daemon's until the batch is over.
  std::function<void(const wire::Bucket&)> bucket_stepped;
  int threads = 1;
  std::vector<std::string> devices;  // where to compute, as LibTorch calls it: "cpu"; "cuda:0", "cuda:1"
};

// What computes, as this folder sees it.
struct TrainerParts {
  // Opens the graphics cards and keeps to that share (1..100) of their memory; before this process is confined, since a
  // driver does more while it begins than a confined process may. Returns the devices' names. Empty: there are none.
  std::function<Result<std::vector<std::string>>(int gpu_memory_percent)> open_graphics_cards;
  std::function<Result<std::unique_ptr<session::Trainer>>(const TrainerResources&)> make_trainer;
};

// For main: confines this process, makes the trainer, and serves its daemon until that closes the channel.
// Returns the exit code. A person who starts the program by hand gets an explanation instead.
int serve_trainer(int argc, char** argv, const TrainerParts& parts);

}  // namespace starling::trainer_link
