#include "tests/client/trainer_link/tiny_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared/base/verify.h"
#include "shared/run/model_layout.h"

namespace starling::trainer_link::testing {
namespace {

UniqueFd file_of(std::int64_t bytes) {
  UniqueFd fd(::memfd_create("data", MFD_CLOEXEC));
  VERIFY(fd && ::ftruncate(fd.get(), bytes) == 0);
  return fd;
}

}  // namespace

wire::RunManifest tiny_manifest(int width, int layers) {
  wire::RunManifest manifest;
  manifest.run_id = "tiny";
  manifest.model = {.layers = layers, .width = width, .heads = 1, .context = 16};
  manifest.data.train.bytes = 100'000;
  manifest.data.train.sha256.bytes.fill(1);
  manifest.data.validation.bytes = 4'000;
  manifest.data.validation.sha256.bytes.fill(2);
  manifest.target_batch_size = 32;
  manifest.micro_batch_size = 8;
  manifest.flops_per_sample = wire::flops_per_sample(manifest.model);
  VERIFY(wire::check_manifest(manifest).ok());
  return manifest;
}

TrainerProcessOptions tiny_options(const std::string& child, const std::string& behaviour) {
  TrainerProcessOptions options;
  options.program = child;
  options.environment = {"STARLING_TEST_BEHAVIOUR=" + behaviour};
  options.manifest = tiny_manifest();
  options.train_data = file_of(options.manifest.data.train.bytes);
  options.validation_data = file_of(options.manifest.data.validation.bytes);
  options.limits.sandbox = !kSanitized;
  if (!kSanitized) options.limits.memory_bytes = std::uint64_t{256} << 20;
  options.limits.yield_to_others = false;
  options.restarts.first_delay = std::chrono::milliseconds(1);
  return options;
}

}  // namespace starling::trainer_link::testing
