// starling-trainer: computes gradients for starlingd, which starts it, confines it and ends it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "client/models/script.h"
#include "client/trainer_link/serve.h"
#include "client/training/graphics_card.h"
#include "client/training/piece_trainer.h"
#include "client/training/process_setup.h"
#include "client/training/processor.h"
#include "client/training/torch_trainer.h"
#include "shared/base/files.h"
#include "shared/base/version.h"
#include "shared/run/cells.h"

namespace {

using namespace starling;

constexpr std::size_t kProgramBytesMax = std::size_t{16} << 30;

// For operators: counts the cost of a sample of their own script.
int count(const std::filesystem::path& program, const std::string& kind, const std::string& size) {
  models::SampleShape sample;
  std::istringstream sizes(size);
  for (std::string part; std::getline(sizes, part, 'x');) {
    const std::int64_t value = std::atoll(part.c_str());
    if (value < 1) sample.values.clear();
    if (value < 1) break;
    sample.values.push_back(value);
  }
  if (kind == "words" && sample.values.size() == 1) sample.tokens = sample.values.front();
  const bool understood = kind == "words" ? sample.tokens > 0 : kind == "values" && !sample.values.empty();
  if (!understood) {
    std::fputs("starling-trainer --count FILE.pt words CONTEXT\nstarling-trainer --count FILE.pt values 3x32x32\n",
               stderr);
    return 2;
  }
  try {
    const auto file = read_file(program, kProgramBytesMax);
    if (!file.ok()) throw std::runtime_error(file.error().message);
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(file->data()), file->size());
    const auto [flops, activation_bytes] = models::count_sample(bytes, sample);
    if (const std::string random = models::random_operator_of(bytes); !random.empty()) {
      std::printf(
          "# It draws random numbers (%s), so volunteers' work on it cannot be checked by computing it again.\n",
          random.c_str());
    }
    std::printf("flops_per_sample = %.0f\n\n[model]\nactivation_bytes = %lld\n", flops,
                static_cast<long long>(activation_bytes));
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "count what '%s' computes: %s\n", program.c_str(), problem.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Shows that the program can be loaded, LibTorch included.
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts(std::string(kVersion).c_str());
    return 0;
  }
  if (argc == 5 && std::string_view(argv[1]) == "--count") return count(argv[2], argv[3], argv[4]);
  const auto make_trainer = [processor = training::read_processor()](
                                const trainer_link::TrainerResources& resources) -> Result<trainer_link::MadeTrainer> {
    if (wire::computes_tasks(resources.manifest.model)) {
      STARLING_ASSIGN(auto trainer, training::PieceTrainer::create(resources, processor.bf16));
      trainer_link::TaskRunner* const tasks = trainer.get();
      wire::ComputeDevice device = trainer->device(processor);
      return trainer_link::MadeTrainer{std::move(trainer), std::move(device), tasks};
    }
    STARLING_ASSIGN(auto trainer,
                    training::TorchTrainer::create({
                        .manifest = resources.manifest,
                        .train_bytes = resources.train_bytes,
                        .validation_bytes = resources.validation_bytes,
                        .state = resources.state,
                        .gradient = resources.gradient,
                        .journal = resources.journal,
                        .threads = resources.threads,
                        .bf16 = resources.devices.front() == "cpu" ? processor.bf16 : training::cards_compute_in_bf16(),
                        .devices = resources.devices,
                        .processor = processor,
                        .shard_bytes = resources.shard_bytes,
                        .program = resources.program,
                        .local = resources.local,
                        .bucket_stepped = resources.bucket_stepped,
                    }));
    wire::ComputeDevice device = trainer->device();
    return trainer_link::MadeTrainer{std::move(trainer), std::move(device)};
  };
  return trainer_link::serve_trainer(argc, argv, {training::open_graphics_cards, make_trainer, training::warm_up});
}
