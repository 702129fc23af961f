// The product's Trainer: LibTorch on memory that belongs to the caller. Parameters and gradients are views into flat
// vectors, so averaging and optimizer see exactly the values that the model computes with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/optim/step_journal.h"
#include "client/session/trainer.h"
#include "client/trainer_link/serve.h"
#include "client/training/processor.h"
#include "shared/protocol/compute_device.h"
#include "shared/run/buckets.h"
#include "shared/run/run_manifest.h"

namespace starling::training {

// The spans must outlive the trainer.
struct TorchTrainerOptions {
  wire::RunManifest manifest;
  std::span<const std::uint8_t> train_bytes;  // the manifest's artefacts, digests checked by the caller
  std::span<const std::uint8_t> validation_bytes;
  std::span<float> state;                 // wire::state_size floats
  std::span<float> gradient;              // parameter_count floats of scratch for one micro-batch: see train_batch()
  optim::StepJournal* journal = nullptr;  // must live as long as the state
  int threads = 1;                        // threads of every matrix product in this process; 1..64
  bool bf16 = false;                      // whether this machine computes fast in bf16, for runs that allow it
  // LibTorch's names of the devices to compute on; several share every batch.
  std::vector<std::string> devices{"cpu"};
  Processor processor{};  // this computer's, to name it
  // Replaces train_bytes in a run with shards: the shard of the next batch. Called before each batch.
  std::function<trainer_link::SharedBytes()> shard_bytes{};
  std::span<const std::uint8_t> program{};  // program of a script, digest checked by the caller
  std::span<float> local{};                 // for local steps: wire::local_state_size floats
  // With gossip: see TrainerResources::bucket_stepped. May be called on another thread while the one that called
  // train_batch() waits.
  std::function<void(const wire::Bucket&)> bucket_stepped{};
};

class TorchTrainer final : public session::Trainer {
 public:
  // invalid_argument when a span does not fit the manifest. Sets the process's thread counts: call once, before other
  // code uses torch.
  static Result<std::unique_ptr<TorchTrainer>> create(const TorchTrainerOptions& options);
  ~TorchTrainer() override;

  // Returns what it computes on, and how precisely; without a limit of memory.
  [[nodiscard]] wire::ComputeDevice device() const;
  [[nodiscard]] session::StateLayout layout() const override;
  std::span<float> state() override;
  Status initialize() override;
  void begin_sum() override;
  void begin_sum_ahead(RoundIndex round, std::span<const float> own_sum, SampleCount samples) override;
  void merge_step() override;
  // If `into` is the scratch, the gradient is not added: it is computed there and replaces the previous content.
  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) override;
  // The gradient is computed in the scratch, with one device.
  Status audit_batch(const wire::SampleRange& samples, std::span<const wire::SketchedPart> parts,
                     std::span<const float> parameters, std::span<double> sketches) override;
  Status step(RoundIndex round, std::span<const float> gradient) override;
  Result<session::Evaluation> evaluate() override;
  Result<std::vector<int>> sample_tokens(std::span<const int> prompt, int count, double temperature) override;

 private:
  struct Impl;  // keeps torch out of this header
  explicit TorchTrainer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::training
