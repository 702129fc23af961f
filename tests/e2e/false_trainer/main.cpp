// A trainer that computes wrong: everything but its gradients is the product's. The folder that it lies in names the
// way.
//
//   zeros     a gradient of nothing
//   half      half of the samples, twice
//   bit-flip  one bit of one number is another one in each round, as with broken memory
#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "client/trainer_link/serve.h"
#include "client/training/graphics_card.h"
#include "client/training/process_setup.h"
#include "client/training/processor.h"
#include "client/training/torch_trainer.h"

namespace {

using namespace starling;

constexpr std::uint32_t kExponentBit = 1U << 25;  // a number is sixteen times as large, or a sixteenth

std::string way_of_lying() {
  std::error_code problem;
  return std::filesystem::read_symlink("/proc/self/exe", problem).parent_path().filename().string();
}

class FalseTrainer final : public session::Trainer {
 public:
  FalseTrainer(std::unique_ptr<session::Trainer> trainer, std::string way)
      : trainer_(std::move(trainer)), way_(std::move(way)) {}

  [[nodiscard]] session::StateLayout layout() const override { return trainer_->layout(); }
  std::span<float> state() override { return trainer_->state(); }
  Status initialize() override { return trainer_->initialize(); }
  void begin_sum() override { trainer_->begin_sum(); }
  void begin_sum_ahead(RoundIndex round, std::span<const float> own_sum, SampleCount samples) override {
    trainer_->begin_sum_ahead(round, own_sum, samples);
  }
  void merge_step() override { trainer_->merge_step(); }
  // `into` is the memory in which the daemon finds this batch's gradient alone.
  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) override {
    wire::SampleRange computed = samples;
    if (way_ == "half") computed.count = (samples.count + 1) / 2;
    auto report = trainer_->train_batch(computed, into);
    if (!report) return report;
    if (way_ == "zeros") std::fill(into.begin(), into.end(), 0.0F);
    if (way_ == "half") {
      for (float& value : into) value *= static_cast<float>(samples.count) / static_cast<float>(computed.count);
      report->samples = samples.count;
      report->loss_sum *= static_cast<double>(samples.count) / static_cast<double>(computed.count);
    }
    if (way_ == "bit-flip" && std::exchange(flipped_, samples.round) != samples.round) flip(into);
    return report;
  }
  Status audit_batch(const wire::SampleRange& samples, std::span<const wire::SketchedPart> parts,
                     std::span<const float> parameters, std::span<double> sketches) override {
    return trainer_->audit_batch(samples, parts, parameters, sketches);
  }
  Status step(RoundIndex round, std::span<const float> gradient) override { return trainer_->step(round, gradient); }
  Result<session::Evaluation> evaluate() override { return trainer_->evaluate(); }
  Result<std::vector<int>> sample_tokens(std::span<const int> prompt, int count, double temperature) override {
    return trainer_->sample_tokens(prompt, count, temperature);
  }

 private:
  // A number that matters: most of a gradient's are of no weight.
  static void flip(std::span<float> gradient) {
    const auto largest =
        std::max_element(gradient.begin(), gradient.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
    if (largest == gradient.end()) return;
    *largest = std::bit_cast<float>(std::bit_cast<std::uint32_t>(*largest) ^ kExponentBit);
  }

  std::unique_ptr<session::Trainer> trainer_;
  std::string way_;
  RoundIndex flipped_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  const auto make_trainer = [processor = training::read_processor(), way = way_of_lying()](
                                const trainer_link::TrainerResources& resources) -> Result<trainer_link::MadeTrainer> {
    STARLING_ASSIGN(auto trainer, training::TorchTrainer::create({
                                      .manifest = resources.manifest,
                                      .train_bytes = resources.train_bytes,
                                      .validation_bytes = resources.validation_bytes,
                                      .state = resources.state,
                                      .gradient = resources.gradient,
                                      .journal = resources.journal,
                                      .threads = resources.threads,
                                      .bf16 = processor.bf16,
                                      .devices = resources.devices,
                                      .processor = processor,
                                  }));
    wire::ComputeDevice device = trainer->device();
    return trainer_link::MadeTrainer{std::make_unique<FalseTrainer>(std::move(trainer), way), std::move(device)};
  };
  return trainer_link::serve_trainer(argc, argv, {training::open_graphics_cards, make_trainer, training::warm_up});
}
