// The optimizer of a run on flat vectors, with results equal to the bit on every x86-64 machine: single
// precision IEEE arithmetic in a fixed order, and no function of the mathematics library, whose last
// bits depend on the processor. Replicas that start equal and average equal gradients stay equal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "client/optim/kernels.h"
#include "client/optim/step_journal.h"
#include "shared/base/result.h"
#include "shared/wire/model_layout.h"
#include "shared/wire/moments.h"
#include "shared/wire/run_manifest.h"

namespace starling::optim {

struct StepInputs;

// Parameters and moments of consecutive tensors that are a piece of a longer state.
struct StatePiece {
  float* first = nullptr;  // parameter
  std::size_t stride = 0;  // from one vector's first float to the next one's: the parameters of the whole state
};

struct ScaledGradient {
  std::span<const float> mean;
  float scale = 1;  // Optimizer::gradient_scale
};

// What the manifest's optimizer table names, with clipping by global norm and a schedule by round. Weight decay
// spares the parameters whose layout entry says so.
class Optimizer {
 public:
  // Reads the model, optimizer and schedule of a manifest that has passed wire::check_manifest.
  explicit Optimizer(const wire::RunManifest& manifest, const Kernels& kernels = optim::kernels());
  // Of these parameters, in the order of their vector and without gaps.
  Optimizer(const wire::OptimizerOptions& options, const wire::ScheduleOptions& schedule,
            std::vector<wire::ParameterInfo> layout, const Kernels& kernels = optim::kernels());

  // [parameters | moments], wire::moment_vectors of the latter, each parameter_count() floats. After a step of a
  // manifest's optimizer the moments are such as its form of them holds (shared/wire/moments.h).
  [[nodiscard]] std::size_t state_size() const { return state_size_; }
  [[nodiscard]] std::size_t parameter_count() const { return parameters_; }

  // One step of `round` on the mean gradient: `state` has state_size() floats, `gradient` parameter_count().
  // Begins the step, continues one that `journal` shows to be in progress, and does nothing if the journal
  // shows it finished. corrupt, with everything untouched, for a gradient that is not finite.
  Status step(RoundIndex round, std::span<const float> gradient, std::span<float> state, StepJournal& journal) const;

  // The same at this learning rate, with moments that `taken` steps have gone into; the journal knows the step by that
  // number.
  Status step_at(double learning_rate, RoundIndex taken, std::span<const float> gradient, std::span<float> state,
                 StepJournal& journal) const;

  // In two: the factor that clipping asks for, of the whole gradient; corrupt for one that is not finite. And the step
  // of this optimizer's parameters, where they lie within a longer state, with a gradient that is known to be finite.
  [[nodiscard]] Result<float> gradient_scale(std::span<const float> gradient) const;
  void step_piece(double learning_rate, RoundIndex taken, const ScaledGradient& gradient, const StatePiece& state,
                  StepJournal& journal) const;

  // Where a step of `round` on this mean gradient would lead, into `parameters` (parameter_count() floats that overlap
  // nothing else); what step() would make of them, to the bit. The state stays as it is. corrupt as step(), with
  // `parameters` untouched.
  Status parameters_after(RoundIndex round, std::span<const float> gradient, std::span<const float> state,
                          std::span<float> parameters) const;

  // Floating-point operations of a step, about.
  [[nodiscard]] double flops_per_step() const;

  // Learning rate of `round`.
  [[nodiscard]] double learning_rate(RoundIndex round) const;

 private:
  // `state` and `stride` as StepInputs has them.
  [[nodiscard]] StepInputs inputs_of(double learning_rate, RoundIndex taken, const ScaledGradient& gradient,
                                     const float* state, std::size_t stride) const;

  wire::OptimizerOptions options_;
  wire::ScheduleOptions schedule_;
  wire::MomentForm moments_ = wire::MomentForm::fp32;
  std::vector<wire::ParameterInfo> layout_;
  std::size_t parameters_ = 0;
  std::size_t state_size_ = 0;
  const Kernels& kernels_;
};

}  // namespace starling::optim
