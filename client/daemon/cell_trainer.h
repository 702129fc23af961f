// The Trainer of one cell that this computer holds. Its state is memory that the trainer's child shares, its gradients
// are those of calls that the child has answered for others, and its rounds' steps are taken here: the child only
// computes.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/optim/step_journal.h"
#include "client/session/trainer.h"
#include "shared/base/clock.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

// Trainer thread, like every Trainer; a step never runs beside a task of the child.
class CellTrainer final : public session::Trainer {
 public:
  // The cell's part in the work with all of them.
  struct Source {
    std::function<Result<SampleCount>(std::span<float> into)> take;  // CellWork::take_gradient
    std::function<void()> on_stepped;                                // CellWork::on_stepped
  };

  // `cell`: the cell's manifest (wire::piece_of). `state` has wire::state_size floats of it. It and the clock outlive
  // this object.
  CellTrainer(const wire::RunManifest& cell, std::span<float> state, Source source, const Clock& clock);

  [[nodiscard]] session::StateLayout layout() const override;
  std::span<float> state() override { return state_; }
  Status initialize() override;
  // Makes the state of round 0 elsewhere, in as many floats.
  Status make_initial_state(std::span<float> into) const;
  // Adds what has been gathered since the last time, whatever samples are asked for; failed_precondition while that is
  // nothing. The loss is the callers' to report. The time is that since the last batch: the pace at which samples come.
  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) override;
  Status step(RoundIndex round, std::span<const float> gradient) override;
  // Both are for callers, who have the whole model within reach: unsupported.
  Result<session::Evaluation> evaluate() override;
  Result<std::vector<int>> sample_tokens(std::span<const int> prompt, int count, double temperature) override;

 private:
  const wire::RunManifest manifest_;
  const std::span<float> state_;
  const Source source_;
  const Clock& clock_;
  const optim::Optimizer optimizer_;
  const std::unique_ptr<optim::StepJournal> journal_;  // the daemon's end is that of the state, too
  TimePoint gathered_at_;
};

}  // namespace starling::daemon
