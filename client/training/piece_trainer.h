// The Trainer of a model's trunk, and of cells beside it, whose batches others compose: it computes tasks
// (client/trainer_link/tasks.h), takes the trunk's steps, and trains no batches by itself. evaluate() tells of the
// held-out samples that were judged since the window began. Without a piece it has cells alone.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "client/session/trainer.h"
#include "client/trainer_link/serve.h"
#include "client/trainer_link/tasks.h"
#include "client/training/processor.h"
#include "shared/protocol/compute_device.h"

namespace starling::training {

class PieceTrainer final : public session::Trainer, public trainer_link::TaskRunner {
 public:
  // The manifest's model is a trunk (wire::trunk_of) or no piece. bf16: this machine computes fast in it. Sets the
  // process's thread counts: call once, before other code uses torch. invalid_argument when a span does not fit the
  // manifest.
  static Result<std::unique_ptr<PieceTrainer>> create(const trainer_link::TrainerResources& resources, bool bf16);
  ~PieceTrainer() override;

  // Describes this computer's processor, on which all is computed.
  [[nodiscard]] wire::ComputeDevice device(const Processor& processor) const;
  [[nodiscard]] session::StateLayout layout() const override;
  std::span<float> state() override;
  Status initialize() override;
  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) override;
  Status step(RoundIndex round, std::span<const float> gradient) override;
  Result<session::Evaluation> evaluate() override;
  Result<std::vector<int>> sample_tokens(std::span<const int> prompt, int count, double temperature) override;

  Status hold(wire::CellIndex cell, std::span<float> parameters, std::span<float> gradient) override;
  void let_go(wire::CellIndex cell) override;
  void begin_window() override;
  Result<double> run(const routing::TrunkTask& task) override;
  Status run(const trainer_link::CellTask& task) override;

 private:
  struct Impl;
  explicit PieceTrainer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::training
