// The optimizer of a run on flat vectors, with results equal to the bit on every x86-64 machine: single precision IEEE
// arithmetic in a fixed order, and no function of the mathematics library, whose last bits depend on the processor.
// Replicas that start equal and average equal gradients stay equal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "client/optim/kernels.h"
#include "client/optim/step_journal.h"
#include "shared/base/result.h"
#include "shared/run/model_layout.h"
#include "shared/run/moments.h"
#include "shared/run/run_manifest.h"

namespace starling::optim {

struct StepInputs;

// Parameters and moments of consecutive tensors that are a piece of a longer state.
struct StatePiece {
  float* first = nullptr;  // parameter
  std::size_t stride = 0;  // floats between the starts of two vectors: the parameter count of the whole state
};

// A mean gradient before clipping. The step multiplies it by `scale`, so that no clipped copy is needed.
struct ScaledGradient {
  std::span<const float> mean;
  float scale = 1;  // Optimizer::gradient_scale
};

// The manifest's optimizer, with clipping by global norm and a schedule by round. Weight decay spares the parameters
// whose layout entry says so.
class Optimizer {
 public:
  // Reads the model, optimizer and schedule of a manifest that has passed wire::check_manifest.
  explicit Optimizer(const wire::RunManifest& manifest, const Kernels& kernels = optim::kernels());
  // An optimizer of these parameters, in the order of their vector and without gaps.
  Optimizer(const wire::OptimizerOptions& options, const wire::ScheduleOptions& schedule,
            std::vector<wire::ParameterInfo> layout, const Kernels& kernels = optim::kernels());

  // Size of [parameters | moments], with wire::moment_vectors vectors of moments, each parameter_count() floats. After
  // a step of a manifest's optimizer the moments are values of their narrow form (shared/run/moments.h).
  [[nodiscard]] std::size_t state_size() const { return state_size_; }
  [[nodiscard]] std::size_t parameter_count() const { return parameters_; }

  // One step of `round` on the mean gradient: `state` has state_size() floats, `gradient` parameter_count(). Begins the
  // step, continues one that `journal` shows to be in progress, and does nothing if the journal shows it finished.
  // corrupt, with everything untouched, for a gradient that is not finite.
  Status step(RoundIndex round, std::span<const float> gradient, std::span<float> state, StepJournal& journal) const;

  // A step at this learning rate, with moments that `taken` steps have gone into; the journal identifies the step by
  // that number.
  Status step_at(double learning_rate, RoundIndex taken, std::span<const float> gradient, std::span<float> state,
                 StepJournal& journal) const;

  // A step in two parts. gradient_scale() is the clipping factor of the whole gradient; corrupt for one that is not
  // finite. step_piece() steps this optimizer's parameters inside a longer state, with a gradient that is known to be
  // finite.
  [[nodiscard]] Result<float> gradient_scale(std::span<const float> gradient) const;
  void step_piece(double learning_rate, RoundIndex taken, const ScaledGradient& gradient, const StatePiece& state,
                  StepJournal& journal) const;

  // Writes the parameters that step() would produce, to the bit, into `parameters` (parameter_count() floats that
  // overlap nothing else). The state stays unchanged. corrupt as step(), with `parameters` untouched.
  Status parameters_after(RoundIndex round, std::span<const float> gradient, std::span<const float> state,
                          std::span<float> parameters) const;

  // Approximate floating-point operations of a step.
  [[nodiscard]] double flops_per_step() const;

  // Learning rate of `round`.
  [[nodiscard]] double learning_rate(RoundIndex round) const;

 private:
  // `state` and `stride` as in StepInputs.
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
