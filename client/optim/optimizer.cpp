#include "client/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "client/optim/adamw.h"
#include "client/optim/exact_math.h"
#include "shared/base/verify.h"

namespace starling::optim {

namespace {

// A gradient this long is no gradient: its squares would leave single precision.
constexpr double kGradientNormMax = 1e18;

// One step, block by block; see step_journal.h.
struct StepRun {
  const AdamWStep& step;
  const std::vector<wire::ParameterInfo>& layout;
  std::span<const float> gradient;
  float* state;
  StepJournal& journal;

  [[nodiscard]] std::size_t parameters() const { return gradient.size(); }
  [[nodiscard]] std::size_t block_size(std::size_t block) const {
    return std::min(kStepBlock, parameters() - block * kStepBlock);
  }

  // New values of a block, into the slot. Cut where the weight decay changes.
  void compute(std::size_t block) const {
    const std::size_t end = block * kStepBlock + block_size(block);
    std::size_t begin = block * kStepBlock;
    auto entry = std::upper_bound(layout.begin(), layout.end(), begin,
                                  [](std::size_t at, const wire::ParameterInfo& info) { return at < info.offset; });
    --entry;
    for (; begin < end; ++entry) {
      const std::size_t stop = std::min(end, entry->offset + entry->count);
      const std::size_t n = parameters();
      float* slot = journal.slot.data() + (begin - block * kStepBlock);
      adamw_update(step, entry->decayed, gradient.subspan(begin, stop - begin),
                   {state + begin, state + n + begin, state + 2 * n + begin},
                   {slot, slot + kStepBlock, slot + 2 * kStepBlock});
      begin = stop;
    }
  }

  void commit(std::size_t block) const {
    for (std::size_t vector = 0; vector < kStepVectorsMax; ++vector) {
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

Optimizer::Optimizer(const wire::RunManifest& manifest)
    : options_(manifest.optimizer),
      schedule_(manifest.schedule),
      layout_(wire::model_layout(manifest.model)),
      parameters_(wire::parameter_count(manifest.model)) {
  static_assert(kStepVectorsMax == 1 + kVectors);
}

double Optimizer::learning_rate(RoundIndex round) const {
  const double peak = schedule_.learning_rate;
  if (round < schedule_.warmup_rounds) {
    return peak * static_cast<double>(round + 1) / static_cast<double>(schedule_.warmup_rounds);
  }
  const auto length = static_cast<double>(std::max<std::int64_t>(1, schedule_.total_rounds - schedule_.warmup_rounds));
  const double done = std::min(1.0, static_cast<double>(round - schedule_.warmup_rounds) / length);
  const double fraction = 0.5 * (1 + cosine_of_half_turns(done));
  return peak * (schedule_.final_fraction + (1 - schedule_.final_fraction) * fraction);
}

Status Optimizer::step(RoundIndex round, std::span<const float> gradient, std::span<float> state,
                       StepJournal& journal) const {
  VERIFY(round >= 0 && gradient.size() == parameters_ && state.size() == state_size());
  if (journal.finished(round)) return {};
  const DefaultArithmetic arithmetic;
  const double norm = std::sqrt(squared_norm(gradient));
  if (!(norm <= kGradientNormMax)) {
    return Error{ErrorCode::corrupt, "optimizer step of round " + std::to_string(round) +
                                         ": the gradient is not finite or out of range (norm " + std::to_string(norm) +
                                         ")"};
  }
  AdamWStep coefficients = adamw_step(options_, learning_rate(round), round);
  if (options_.clip_norm > 0 && norm > options_.clip_norm) {
    coefficients.gradient_scale = static_cast<float>(options_.clip_norm / norm);
  }
  journal.begin(round);
  StepRun{coefficients, layout_, gradient, state.data(), journal}.run();
  journal.finish();
  return {};
}

}  // namespace starling::optim
