#include "client/daemon/cell_gradient.h"

#include <algorithm>
#include <vector>

#include "client/optim/arrival_steps.h"
#include "client/trainer_link/gradient_sum.h"
#include "shared/run/cells.h"
#include "shared/run/model_layout.h"

namespace starling::daemon {
namespace {

void clear(std::span<float> gradient) { std::fill(gradient.begin(), gradient.end(), 0.0F); }

// The trainer computes at the shared state, and adds gradients up in its memory.
class Summed final : public CellGradient {
 public:
  explicit Summed(trainer_link::CellMemory memory) : memory_(memory) {}

  std::span<float> agreed() override { return memory_.state; }
  void begin() override { clear(memory_.gradient); }
  void on_stepped() override {}
  Status add(RoundIndex /*round*/, std::int64_t /*units*/) override { return {}; }
  void spoil() override { clear(memory_.gradient); }
  Result<SampleCount> take(SampleCount told, std::span<float> into) override {
    if (told == 0)
      return SampleCount{0};  // the caller that has sent gradients says at its window's end how many they are of
    const Status added = trainer_link::add_gradient(memory_.gradient, into);
    clear(memory_.gradient);
    STARLING_TRY(added);
    return told;
  }

 private:
  trainer_link::CellMemory memory_;
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
    const Status stepped = steps_.step(round, static_cast<double>(units) / units_of_sample_, memory_.gradient);
    clear(memory_.gradient);
    return stepped;
  }
  void spoil() override { clear(memory_.gradient); }
  Result<SampleCount> take(SampleCount /*told*/, std::span<float> into) override { return steps_.take(into); }

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
