#include "tests/bench/calls_model.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

#include "client/trainer_link/program_path.h"
#include "shared/base/permutation.h"
#include "shared/run/cells.h"
#include "shared/run/model_layout.h"
#include "tests/bench/bench_network.h"

namespace starling::bench {
namespace {

constexpr std::int64_t kTextBytes = 1 << 19;
constexpr std::int64_t kHeldOutBytes = 4096;

// Words of no language: gates tell their letters apart, and nothing is learnt by heart.
std::string made_up_text() {
  std::string text(static_cast<std::size_t>(kTextBytes), ' ');
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint64_t chance = mix64(i);
    if (chance % 6 != 0) text[i] = static_cast<char>('a' + chance / 6 % 26);
  }
  return text;
}

Result<UniqueFd> file_of(const std::string& bytes) {
  UniqueFd fd(::memfd_create("text", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return Error{ErrorCode::io, "keep the text in memory"};
  }
  return fd;
}

// All numbers of a model, in one order.
template <typename Model>
auto numbers_of(Model& model) {
  return std::array{&model.layers,      &model.width,     &model.heads,  &model.context,
                    &model.mlp_width,   &model.experts,   &model.active, &model.experts_per_cell,
                    &model.micro_batch, &model.in_flight, &model.turns};
}

}  // namespace

std::string to_line(const CallsModel& model) {
  std::string line;
  for (const int* const number : numbers_of(model)) line += std::to_string(*number) + " ";
  return line;
}

CallsModel calls_model_of(const std::string& line) {
  CallsModel model;
  std::istringstream in(line);
  for (int* const number : numbers_of(model)) in >> *number;
  return model;
}

wire::RunManifest calls_manifest(const CallsModel& model, wire::ModelPiece piece) {
  wire::RunManifest manifest;
  manifest.run_id = kBenchRun;
  manifest.model.architecture = wire::Architecture::decoder;
  manifest.model.layers = model.layers;
  manifest.model.width = model.width;
  manifest.model.heads = model.heads;
  manifest.model.context = model.context;
  manifest.model.mlp_width = model.mlp_width;
  manifest.model.experts.rows = model.experts;
  manifest.model.experts.active = model.active;
  manifest.model.experts.cells.experts = model.experts_per_cell;
  // Nobody asks for these digests: trainers are given the text, and volunteers begin with the states, themselves.
  Digest any;
  any.bytes.fill(2);
  manifest.model.experts.cells.digests.assign(wire::cells_of(manifest.model).size(), any);
  manifest.data.train = {{}, kTextBytes};
  manifest.data.train.sha256.bytes.fill(1);
  manifest.data.validation = {{}, kHeldOutBytes};
  manifest.data.validation.sha256 = any;
  manifest.micro_batch_size = model.window_samples();
  manifest.target_batch_size = manifest.micro_batch_size;
  manifest.flops_per_sample = wire::flops_per_sample(manifest.model);
  return piece == wire::kWholeModel ? manifest : wire::piece_of(std::move(manifest), piece);
}

Result<trainer_link::TrainerProcessOptions> calls_trainer(const CallsModel& model, wire::ModelPiece piece,
                                                          bool yields) {
  trainer_link::TrainerProcessOptions options;
  options.program = trainer_link::trainer_program("../lib/starling");
  options.manifest = calls_manifest(model, piece);
  STARLING_TRY(wire::check_manifest(calls_manifest(model, wire::kWholeModel)));
  const std::string text = made_up_text();
  STARLING_ASSIGN(options.train_data, file_of(text));
  STARLING_ASSIGN(options.validation_data, file_of(text.substr(0, kHeldOutBytes)));
  options.limits.yield_to_others = yields;
  return options;
}

}  // namespace starling::bench
