#include "client/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "client/optim/exact_math.h"
#include "client/optim/schedule.h"
#include "client/optim/step_rule.h"
#include "shared/base/verify.h"

namespace starling::optim {

namespace {

// A gradient this long is no gradient: its squares would leave single precision.
constexpr double kGradientNormMax = 1e18;

// One step, block by block; see step_journal.h.
struct StepRun {
  const StepRule& rule;
  const std::vector<wire::ParameterInfo>& layout;
  std::size_t vectors;  // of the state
  std::span<const float> gradient;
  float* state;
  StepJournal& journal;

  [[nodiscard]] std::size_t parameters() const { return gradient.size(); }
  [[nodiscard]] std::size_t block_size(std::size_t block) const {
    return std::min(kStepBlock, parameters() - block * kStepBlock);
  }

  // New values of a block, into the slot; each tensor's piece of it by itself.
  void compute(std::size_t block) const {
    const std::size_t end = block * kStepBlock + block_size(block);
    std::size_t begin = block * kStepBlock;
    auto tensor = std::upper_bound(layout.begin(), layout.end(), begin,
                                   [](std::size_t at, const wire::ParameterInfo& info) { return at < info.offset; });
    for (--tensor; begin < end; ++tensor) {
      const std::size_t stop = std::min(end, tensor->offset + tensor->count);
      Piece piece{stop - begin, gradient.data() + begin};
      for (std::size_t vector = 0; vector < vectors; ++vector) {
        piece.from[vector] = state + vector * parameters() + begin;
        piece.to[vector] = journal.slot.data() + vector * kStepBlock + (begin - block * kStepBlock);
      }
      rule.compute(*tensor, piece);
      begin = stop;
    }
  }

  void commit(std::size_t block) const {
    for (std::size_t vector = 0; vector < vectors; ++vector) {
      std::memcpy(state + vector * parameters() + block * kStepBlock, journal.slot.data() + vector * kStepBlock,
                  block_size(block) * sizeof(float));
    }
  }

  void run() const {
    const std::uint64_t end = 2 * ((parameters() + kStepBlock - 1) / kStepBlock);
    for (std::uint64_t at = journal.progress.load(std::memory_order_acquire); at < end; ++at) {
      if (at % 2 == 0) {
        compute(at / 2);
      } else {
        commit(at / 2);
      }
      journal.progress.store(at + 1, std::memory_order_release);
    }
  }
};

}  // namespace

Optimizer::Optimizer(const wire::RunManifest& manifest, const Kernels& kernels)
    : options_(manifest.optimizer),
      schedule_(manifest.schedule),
      layout_(wire::model_layout(manifest.model)),
      parameters_(wire::parameter_count(manifest.model)),
      state_size_(wire::state_size(manifest)),
      kernels_(kernels) {
  VERIFY(state_size_ <= parameters_ * kStepVectorsMax);
}

double Optimizer::learning_rate(RoundIndex round) const { return optim::learning_rate(schedule_, round); }

Status Optimizer::step(RoundIndex round, std::span<const float> gradient, std::span<float> state,
                       StepJournal& journal) const {
  VERIFY(round >= 0 && gradient.size() == parameters_ && state.size() == state_size());
  if (journal.finished(round)) return {};
  const DefaultArithmetic arithmetic;
  const double norm = std::sqrt(kernels_.squared_norm(gradient.data(), gradient.size()));
  if (!(norm <= kGradientNormMax)) {
    return Error{ErrorCode::corrupt, "optimizer step of round " + std::to_string(round) +
                                         ": the gradient is not finite or out of range (norm " + std::to_string(norm) +
                                         ")"};
  }
  StepInputs inputs{options_, layout_, kernels_, round, learning_rate(round)};
  if (options_.clip_norm > 0 && norm > options_.clip_norm) {
    inputs.gradient_scale = static_cast<float>(options_.clip_norm / norm);
  }
  const std::unique_ptr<StepRule> rule = make_step_rule(inputs);
  journal.begin(round);
  StepRun{*rule, layout_, state.size() / parameters_, gradient, state.data(), journal}.run();
  journal.finish();
  return {};
}

}  // namespace starling::optim
