#include "client/daemon/cell_gradient.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "client/optim/arrival_steps.h"
#include "client/trainer_link/gradient_sum.h"
#include "shared/base/verify.h"
#include "shared/run/cells.h"
#include "shared/run/model_layout.h"

namespace starling::daemon {
namespace {

// The trainer computes at the shared state, and gradients are added up.
class Summed final : public CellGradient {
 public:
  explicit Summed(trainer_link::CellMemory memory) : memory_(memory), sum_(memory.gradient.size()) {}

  std::span<float> agreed() override { return memory_.state; }
  void begin() override { std::fill(sum_.begin(), sum_.end(), 0.0F); }
  void on_stepped() override {}
  Status add(RoundIndex /*round*/, std::int64_t /*units*/) override {
    return trainer_link::add_gradient(memory_.gradient, sum_);
  }
  SampleCount take(SampleCount told, std::span<float> into) override {
    VERIFY(into.size() == sum_.size());
    if (told == 0) return 0;  // the caller that has sent gradients says at its window's end how many they are of
    std::transform(sum_.begin(), sum_.end(), into.begin(), into.begin(), std::plus<>());
    std::fill(sum_.begin(), sum_.end(), 0.0F);
    return told;
  }

 private:
  trainer_link::CellMemory memory_;
  std::vector<float> sum_;  // whole batches, which no death of the trainer can spoil
};

// The trainer computes at parameters of this holder's own.
class Stepped final : public CellGradient {
 public:
  Stepped(const wire::RunManifest& cell, trainer_link::CellMemory memory)
      : memory_(memory),
        agreed_(wire::state_size(cell)),
        units_of_sample_(wire::units_of_sample(cell.model)),
        steps_(cell, std::span(agreed_).first(memory.gradient.size()), memory.state) {}

  std::span<float> agreed() override { return agreed_; }
  void begin() override { steps_.begin(); }
  void on_stepped() override { steps_.go_on(); }
  // Samples whose tokens go elsewhere would have a gradient of 0 here. A step on arrival does not know of them, so
  // it takes as many as would bring these units if all experts had the same load.
  Status add(RoundIndex round, std::int64_t units) override {
    return steps_.step(round, static_cast<double>(units) / units_of_sample_, memory_.gradient);
  }
  SampleCount take(SampleCount /*told*/, std::span<float> into) override { return steps_.take(into); }

 private:
  trainer_link::CellMemory memory_;
  std::vector<float> agreed_;
  double units_of_sample_;
  optim::ArrivalSteps steps_;
};

}  // namespace

std::unique_ptr<CellGradient> make_cell_gradient(const wire::RunManifest& cell, trainer_link::CellMemory memory) {
  if (cell.local) return std::make_unique<Stepped>(cell, memory);
  return std::make_unique<Summed>(memory);
}

}  // namespace starling::daemon
