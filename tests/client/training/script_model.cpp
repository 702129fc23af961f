// script_model FOLDER: writes the files of export_model.py, where no Python has PyTorch.
// script_model PROGRAM PARAMETERS TEXT CONTEXT: prints bits a byte of the text, computed by our trainer;
// evaluate_model.py prints an equal number.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/training/torch_trainer.h"
#include "shared/base/files.h"
#include "shared/run/model_layout.h"
#include "shared/state/initial_state.h"
#include "shared/wire/safetensors.h"
#include "tests/client/training/script_files.h"

namespace {

using namespace starling;

constexpr std::size_t kFileMax = std::size_t{1} << 30;

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Status write(const std::filesystem::path& folder) {
  const auto files = training::testing::byte_guesser();
  STARLING_TRY(write_file_atomically(folder / "model.pt", files.program));
  return write_file_atomically(folder / "model.safetensors", files.parameters);
}

Result<double> bits(const char* program_file, const char* parameters_file, const char* text_file, int context) {
  STARLING_ASSIGN(const std::string program, read_file(program_file, kFileMax));
  STARLING_ASSIGN(const std::string parameters, read_file(parameters_file, kFileMax));
  STARLING_ASSIGN(const std::string text, read_file(text_file, kFileMax));
  STARLING_ASSIGN(const auto tensors, wire::read_tensor_head(bytes_of(parameters), parameters.size()));
  wire::RunManifest manifest;
  manifest.model.architecture = wire::Architecture::script;
  manifest.model.context = context;
  for (const wire::TensorInfo& tensor : tensors) manifest.model.script.tensors.push_back({tensor.name, tensor.shape});
  std::vector<float> state(wire::state_size(manifest)), gradient(wire::parameter_count(manifest.model));
  STARLING_TRY(state::load_initial_state(manifest, state::parameters_in(bytes_of(parameters)), state));
  const auto journal = std::make_unique<optim::StepJournal>();
  STARLING_ASSIGN(const auto trainer, training::TorchTrainer::create({.manifest = manifest,
                                                                      .train_bytes = bytes_of(text),
                                                                      .validation_bytes = bytes_of(text),
                                                                      .state = state,
                                                                      .gradient = gradient,
                                                                      .journal = journal.get(),
                                                                      .program = bytes_of(program)}));
  STARLING_ASSIGN(const session::Evaluation evaluation, trainer->evaluate());
  return evaluation.bits_per_byte;
}

}  // namespace

int main(int argc, char** argv) {
  Status status = Error{ErrorCode::invalid_argument, "script_model FOLDER, or PROGRAM PARAMETERS TEXT CONTEXT"};
  if (argc == 2) status = write(argv[1]);
  if (argc == 5) {
    const Result<double> result = bits(argv[1], argv[2], argv[3], std::atoi(argv[4]));
    if (result.ok()) std::printf("%.9f\n", *result);
    status = result.status();
  }
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
