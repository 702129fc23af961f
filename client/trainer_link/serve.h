// The child's end of the link: the whole life of a trainer process, except the computation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/optim/step_journal.h"
#include "client/session/trainer.h"
#include "client/trainer_link/tasks.h"
#include "shared/base/result.h"
#include "shared/protocol/compute_device.h"
#include "shared/run/buckets.h"
#include "shared/run/run_manifest.h"

namespace starling::trainer_link {

// Valid as long as `owner` is held.
struct SharedBytes {
  std::span<const std::uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

// Inputs and memory of a trainer, which must outlive it.
struct TrainerResources {
  wire::RunManifest manifest;
  std::span<const std::uint8_t> train_bytes;  // the manifest's artefacts, read-only
  std::span<const std::uint8_t> validation_bytes;
  std::function<SharedBytes()> shard_bytes;  // replaces train_bytes in a run with shards: the next batch's shard
  std::span<const std::uint8_t> program;     // program of a script; empty for all other models
  std::span<float> state;                    // shared with the daemon
  // Shared with the daemon, and passed as train_batch()'s `into`: a batch's gradient may be computed there instead of
  // being added to the previous content.
  std::span<float> gradient;
  optim::StepJournal* journal = nullptr;  // shared with the daemon
  std::span<float> local;                 // for local steps (wire::local_state_size); shared with the daemon
  // With gossip: called when a bucket of `local` has stepped; the bucket is the daemon's until the batch is over.
  std::function<void(const wire::Bucket&)> bucket_stepped;
  int threads = 1;
  std::vector<std::string> devices;  // LibTorch's names of the devices to compute on: "cpu"; "cuda:0", "cuda:1"
};

// A trainer, and what it computes on; the limit of memory and the reason why no card is used are filled in here.
struct MadeTrainer {
  std::unique_ptr<session::Trainer> trainer;
  wire::ComputeDevice device;
  TaskRunner* tasks = nullptr;  // the trainer's own, where it has a trunk; null where it has a whole model
};

// The computing part, as this folder uses it.
struct TrainerParts {
  // Opens the graphics cards and keeps to that share (1..100) of their memory. It is called before this process is
  // confined, since a driver's start needs more than a confined process may do. Returns the devices' names, at least
  // one; or why there are none, for people.
  std::function<Result<std::vector<std::string>>(int gpu_memory_percent)> open_graphics_cards;
  std::function<Result<MadeTrainer>(const TrainerResources&)> make_trainer;
  // Computes a little with as many threads, so that libraries open now whatever files they open at first use, and take
  // what memory they wait for, maybe for ever, where it is used up. Called before this process is limited and confined.
  // Empty: there is no need.
  std::function<void(int threads)> warm_up = {};
};

// For main: confines this process, makes the trainer, and serves its daemon until that closes the channel. Returns the
// exit code. A person who starts the program by hand gets an explanation instead.
int serve_trainer(int argc, char** argv, const TrainerParts& parts);

}  // namespace starling::trainer_link
