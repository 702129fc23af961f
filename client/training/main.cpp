// starling-trainer: computes gradients for starlingd, which starts it, confines it and ends it.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "client/trainer_link/serve.h"
#include "client/training/graphics_card.h"
#include "client/training/precision.h"
#include "client/training/torch_trainer.h"
#include "shared/base/version.h"
#include "shared/wire/model_layout.h"

int main(int argc, char** argv) {
  using namespace starling;
  if (argc == 2 && std::string_view(argv[1]) == "--version") {  // it can be loaded, LibTorch and all
    std::puts(std::string(kVersion).c_str());
    return 0;
  }
  std::vector<float> gradient;  // one micro-batch's; outlives the trainer
  const auto make_trainer =
      [&gradient](const trainer_link::TrainerResources& resources) -> Result<std::unique_ptr<session::Trainer>> {
    gradient.resize(wire::parameter_count(resources.manifest.model));
    STARLING_ASSIGN(auto trainer, training::TorchTrainer::create({
                                      .manifest = resources.manifest,
                                      .train_bytes = resources.train_bytes,
                                      .validation_bytes = resources.validation_bytes,
                                      .state = resources.state,
                                      .gradient = gradient,
                                      .journal = resources.journal,
                                      .threads = resources.threads,
                                      .bf16 = resources.device == "cpu" && training::computes_in_bf16(),
                                      .device = resources.device,
                                      .shard_bytes = resources.shard_bytes,
                                  }));
    return std::unique_ptr<session::Trainer>(std::move(trainer));
  };
  return trainer_link::serve_trainer(argc, argv, {training::open_graphics_card, make_trainer});
}
