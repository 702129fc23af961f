#include "client/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "client/optim/exact_math.h"
#include "client/optim/newton_schulz.h"
#include "client/optim/schedule.h"
#include "client/optim/step_rule.h"
#include "shared/base/permutation.h"
#include "shared/base/verify.h"

namespace starling::optim {

namespace {

// Longer gradients are refused: their squares would leave single precision.
constexpr double kGradientNormMax = 1e18;

std::size_t blocks_of(std::size_t parameters) { return (parameters + kStepBlock - 1) / kStepBlock; }

// Calls body(stretch, size) for each tensor's piece of a block.
template <typename Body>
void each_stretch(const StepInputs& inputs, int pass, std::size_t block, const Body& body) {
  const std::size_t end = std::min(inputs.gradient.size(), (block + 1) * kStepBlock);
  std::size_t begin = block * kStepBlock;
  const auto& layout = inputs.layout;
  auto tensor = std::upper_bound(layout.begin(), layout.end(), begin,
                                 [](std::size_t at, const wire::ParameterInfo& info) { return at < info.offset; });
  for (--tensor; begin < end; ++tensor) {
    const std::size_t stop = std::min(end, tensor->offset + tensor->count);
    body(Stretch{pass, static_cast<std::size_t>(tensor - layout.begin()), begin}, stop - begin);
    begin = stop;
  }
}

// Calls body(vector, its place in the slot) for each vector that the rule changes in a stretch.
template <typename Body>
void each_changed(const StepRule& rule, const Stretch& stretch, StepSlot& slot, const Body& body) {
  const VectorSet changed = rule.changed(stretch);
  for (std::size_t vector = 0; vector < kStepVectorsMax; ++vector) {
    if ((changed >> vector & 1U) == 0) continue;
    body(vector, slot.data() + vector * kStepBlock + stretch.begin % kStepBlock);
  }
}

// Inputs of a stretch, and its outputs' places in the slot.
Piece piece_of(const StepRule& rule, const StepInputs& inputs, const Stretch& stretch, std::size_t size,
               StepSlot& slot) {
  Piece piece{size, inputs.gradient.data() + stretch.begin};
  each_changed(rule, stretch, slot, [&](std::size_t vector, float* to) { piece.to[vector] = to; });
  for (std::size_t vector = 0; vector < inputs.vectors; ++vector) {
    piece.from[vector] = inputs.vector(vector) + stretch.begin;
  }
  return piece;
}

// One step, block by block; see step_journal.h.
struct StepRun {
  StepRule& rule;
  const StepInputs& inputs;
  const StatePiece& state;
  wire::MomentForm moments;  // form that moments are rounded to in a last pass of its own, when a block is complete
  StepJournal& journal;

  [[nodiscard]] std::size_t blocks() const { return blocks_of(inputs.gradient.size()); }
  [[nodiscard]] int passes() const { return rule.passes() + (moments == wire::MomentForm::fp32 ? 0 : 1); }

  // Calls body(vector, its piece's first float, the place in the slot, floats) for each vector of moments.
  template <typename Body>
  void each_moment(std::size_t block, const Body& body) const {
    const std::size_t begin = block * kStepBlock;
    const std::size_t size = std::min(kStepBlock, inputs.gradient.size() - begin);
    for (std::size_t vector = 1; vector < inputs.vectors; ++vector) {
      body(vector, state.first + vector * state.stride + begin, journal.slot.data() + vector * kStepBlock, size);
    }
  }

  void round(std::size_t block) const {
    each_moment(block, [&](std::size_t vector, const float* values, float* slot, std::size_t size) {
      const std::uint64_t step = mix64(static_cast<std::uint64_t>(inputs.round)) + vector;
      std::memcpy(slot, values, size * sizeof(float));
      inputs.kernels.round_moments({.to = wire::narrow_floats(moments, vector),
                                    .chance = static_cast<std::uint32_t>(mix64(step)),
                                    .first = block * kStepBlock},
                                   slot, size);
    });
  }

  // Computes new values of a block into the slot.
  void compute(int pass, std::size_t block) const {
    if (pass == rule.passes()) return round(block);
    each_stretch(inputs, pass, block, [this](const Stretch& stretch, std::size_t size) {
      if (rule.changed(stretch) == 0) return;
      rule.compute(stretch, journal.scales, piece_of(rule, inputs, stretch, size, journal.slot));
    });
  }

  void commit(int pass, std::size_t block) const {
    if (pass == rule.passes()) {
      return each_moment(block, [](std::size_t, float* values, const float* slot, std::size_t size) {
        std::memcpy(values, slot, size * sizeof(float));
      });
    }
    each_stretch(inputs, pass, block, [this](const Stretch& stretch, std::size_t size) {
      each_changed(rule, stretch, journal.slot, [&](std::size_t vector, const float* slot) {
        std::memcpy(state.first + vector * state.stride + stretch.begin, slot, size * sizeof(float));
      });
    });
  }

  void run() const {
    const std::uint64_t end = 1 + 2 * blocks() * static_cast<std::uint64_t>(passes());
    for (std::uint64_t at = journal.progress.load(std::memory_order_acquire); at < end; ++at) {
      if (at == 0) {
        rule.prepare(std::span(journal.scales).first(inputs.layout.size()), journal.slot.data());
      } else {
        const std::uint64_t turn = (at - 1) / 2;
        const auto pass = static_cast<int>(turn / blocks());
        (at % 2 == 1) ? compute(pass, turn % blocks()) : commit(pass, turn % blocks());
      }
      journal.progress.store(at + 1, std::memory_order_release);
    }
  }
};

}  // namespace

Optimizer::Optimizer(const wire::RunManifest& manifest, const Kernels& kernels)
    : Optimizer(manifest.optimizer, manifest.schedule, wire::model_layout(manifest.model), kernels) {
  moments_ = wire::state_form(manifest).moments;
}

Optimizer::Optimizer(const wire::OptimizerOptions& options, const wire::ScheduleOptions& schedule,
                     std::vector<wire::ParameterInfo> layout, const Kernels& kernels)
    : options_(options),
      schedule_(schedule),
      layout_(std::move(layout)),
      parameters_(layout_.empty() ? 0 : layout_.back().offset + layout_.back().count),
      state_size_(parameters_ * (1 + static_cast<std::size_t>(wire::moment_vectors(options)))),
      kernels_(kernels) {
  VERIFY(state_size_ <= parameters_ * kStepVectorsMax && layout_.size() <= kStepTensorsMax);
}

double Optimizer::flops_per_step() const {
  constexpr double kFlopsPerParameter = 100;  // generous estimate
  double flops = kFlopsPerParameter * static_cast<double>(parameters_);
  if (options_.kind != wire::OptimizerKind::muon) return flops;
  for (const wire::ParameterInfo& info : layout_) {
    const auto rows = static_cast<std::size_t>(info.shape[0]);
    if (info.hidden) flops += newton_schulz_flops(rows, info.count / rows, options_.newton_schulz_steps);
  }
  return flops;
}

double Optimizer::learning_rate(RoundIndex round) const { return optim::learning_rate(schedule_, round); }

Status Optimizer::step(RoundIndex round, std::span<const float> gradient, std::span<float> state,
                       StepJournal& journal) const {
  return step_at(learning_rate(round), round, gradient, state, journal);
}

Result<float> Optimizer::gradient_scale(std::span<const float> gradient) const {
  const DefaultArithmetic arithmetic;
  const double norm = std::sqrt(kernels_.squared_norm(gradient.data(), gradient.size()));
  if (!(norm <= kGradientNormMax)) {
    return Error{ErrorCode::corrupt, "the gradient is not finite or out of range (norm " + std::to_string(norm) + ")"};
  }
  return options_.clip_norm > 0 && norm > options_.clip_norm ? static_cast<float>(options_.clip_norm / norm) : 1.0F;
}

Status Optimizer::parameters_after(RoundIndex round, std::span<const float> gradient, std::span<const float> state,
                                   std::span<float> parameters) const {
  VERIFY(state.size() == state_size() && parameters.size() == parameters_);
  const auto scale = gradient_scale(gradient);
  if (!scale.ok()) return scale.error().prefixed("look where the step of round " + std::to_string(round) + " leads");
  const DefaultArithmetic arithmetic;
  const StepInputs inputs = inputs_of(learning_rate(round), round, {gradient, *scale}, state.data(), parameters_);
  const std::unique_ptr<StepRule> rule = make_step_rule(inputs);
  const auto slot = std::make_unique<StepSlot>();
  std::vector<float> scales(layout_.size());
  rule->prepare(scales, slot->data());
  for (std::size_t block = 0; block < blocks_of(parameters_); ++block) {
    each_stretch(inputs, 0, block, [&](const Stretch& stretch, std::size_t size) {
      Piece piece = piece_of(*rule, inputs, stretch, size, *slot);
      piece.to[0] = parameters.data() + stretch.begin;
      rule->compute(stretch, scales, piece);
    });
  }
  return {};
}

StepInputs Optimizer::inputs_of(double learning_rate, RoundIndex taken, const ScaledGradient& gradient,
                                const float* state, std::size_t stride) const {
  VERIFY(taken >= 0 && gradient.mean.size() == parameters_);
  return {options_,       layout_,       kernels_, taken,  learning_rate,
          gradient.scale, gradient.mean, state,    stride, state_size_ / parameters_};
}

Status Optimizer::step_at(double learning_rate, RoundIndex round, std::span<const float> gradient,
                          std::span<float> state, StepJournal& journal) const {
  VERIFY(state.size() == state_size());
  if (journal.finished(round)) return {};
  const auto scale = gradient_scale(gradient);
  if (!scale.ok()) return scale.error().prefixed("optimizer step of round " + std::to_string(round));
  step_piece(learning_rate, round, {gradient, *scale}, {state.data(), parameters_}, journal);
  return {};
}

void Optimizer::step_piece(double learning_rate, RoundIndex round, const ScaledGradient& gradient,
                           const StatePiece& state, StepJournal& journal) const {
  const DefaultArithmetic arithmetic;
  const StepInputs inputs = inputs_of(learning_rate, round, gradient, state.first, state.stride);
  const std::unique_ptr<StepRule> rule = make_step_rule(inputs);
  journal.begin(round);
  StepRun{*rule, inputs, state, moments_, journal}.run();
  journal.finish();
}

}  // namespace starling::optim
