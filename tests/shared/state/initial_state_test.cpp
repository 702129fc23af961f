#include "shared/state/initial_state.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/words.h"
#include "shared/run/model_layout.h"
#include "shared/state/state_digest.h"
#include "shared/wire/safetensors.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::state;

namespace {

std::vector<float> initial_state(std::uint64_t seed) {
  wire::RunManifest manifest;
  manifest.seed = seed;
  std::vector<float> state(wire::state_size(manifest), 1e9F);
  fill_initial_state(manifest, state);
  return state;
}

// A state that ends within its third chunk, of a run with a program of its own; and the file with its parameters.
struct Program {
  Program() {
    manifest.model.architecture = wire::Architecture::script;
    manifest.model.script.tensors = {{"table", {300, 256}}, {"bias", {7}}};
    std::vector<wire::TensorInfo> tensors = {{"table", wire::TensorType::f32, {300, 256}},
                                             {"bias", wire::TensorType::f32, {7}}};
    file = wire::encode_tensor_head(tensors);
    std::vector<float> values(wire::parameter_count(manifest.model));
    std::iota(values.begin(), values.end(), -1000.25F);
    file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  [[nodiscard]] ParameterFile parameters() const {
    return parameters_in({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
  }
  wire::RunManifest manifest;
  std::string file;
};

}  // namespace

TEST_CASE("matrices start uniform within their bound, norms at one, biases and moments at zero") {
  const std::vector<float> state = initial_state(1);
  const wire::RunManifest manifest;
  for (const wire::ParameterInfo& info : wire::model_layout(manifest.model)) {
    const auto begin = state.begin() + static_cast<std::ptrdiff_t>(info.offset);
    const auto end = begin + static_cast<std::ptrdiff_t>(info.count);
    const auto [least, most] = std::minmax_element(begin, end);
    if (info.initial_bound == 0) {
      CHECK(*least == info.initial_value);
      CHECK(*most == info.initial_value);
      continue;
    }
    CHECK(*least >= -info.initial_bound);
    CHECK(*most < info.initial_bound);
    double sum = 0, squares = 0;
    std::for_each(begin, end, [&](double value) { sum += value, squares += value * value; });
    const auto count = static_cast<double>(info.count);
    CHECK(std::abs(sum / count) < 0.05 * info.initial_bound);
    CHECK(squares / count == doctest::Approx(info.initial_bound * info.initial_bound / 3).epsilon(0.05));
  }
  const auto parameters = static_cast<std::ptrdiff_t>(wire::parameter_count(manifest.model));
  CHECK(std::all_of(state.begin() + parameters, state.end(), [](float value) { return value == 0; }));
}

TEST_CASE("one seed gives one state, two seeds give two") {
  CHECK(initial_state(1) == initial_state(1));
  CHECK(initial_state(1) != initial_state(2));
}

TEST_CASE("the digest that is made chunk by chunk is that of the whole state, of every architecture and optimizer") {
  const wire::ModelOptions kinds[] = {
      {},
      {.architecture = wire::Architecture::albert,
       .layers = 1,
       .width = 32,
       .heads = 2,
       .context = 32,
       .vocabulary = 3000},
      {.architecture = wire::Architecture::resnet},
      {.architecture = wire::Architecture::mlp},
      {.layers = 1, .width = 8, .heads = 1, .context = 8, .vocabulary = 256},  // not one whole chunk
  };
  for (const wire::ModelOptions& model : kinds) {
    for (const wire::OptimizerKind optimizer :
         {wire::OptimizerKind::sgd, wire::OptimizerKind::adamw, wire::OptimizerKind::lamb}) {
      wire::RunManifest manifest;
      manifest.model = model;
      manifest.optimizer = wire::default_optimizer(optimizer);
      CAPTURE(word_of(model.architecture));
      CAPTURE(word_of(optimizer));
      std::vector<float> state(wire::state_size(manifest));
      fill_initial_state(manifest, state);
      CHECK(initial_state_digest(manifest) == state_digest(state));
    }
  }
}

TEST_CASE("the pieces of a model begin as the whole does, and each is made without the others") {
  wire::RunManifest manifest;
  manifest.model = {.architecture = wire::Architecture::decoder, .layers = 2, .width = 8, .heads = 2, .context = 8};
  manifest.model.mlp_width = 12;
  manifest.model.experts.rows = 3;
  manifest.model.experts.cells.experts = 2;
  std::vector<float> whole(wire::state_size(manifest));
  fill_initial_state(manifest, whole);
  std::size_t next = 0;
  for (wire::ModelPiece piece = wire::kTrunk; piece < 4; ++piece) {
    manifest.model.experts.piece = piece;
    std::vector<float> state(wire::state_size(manifest));
    fill_initial_state(manifest, state);
    CHECK(initial_state_digest(manifest) == state_digest(state));
    const std::size_t parameters = wire::parameter_count(manifest.model);
    CHECK(std::equal(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(parameters),
                     whole.begin() + static_cast<std::ptrdiff_t>(next)));
    next += parameters;
  }
  CHECK(next == whole.size() / 3);
}

TEST_CASE("the digest of a run's first state is this, on every machine and in every version that follows") {
  wire::RunManifest manifest;
  manifest.seed = 7;
  CHECK(initial_state_digest(manifest).hex() == "fa98ad225076761246ee75b32a649d0d90fb0260e69a370c80559bf16cb40c99");
}

TEST_CASE("a program's first state has the parameters of its file, which may be read in pieces") {
  const Program program;
  std::vector<float> state(wire::state_size(program.manifest), 1e9F);
  REQUIRE(state.size() > 2 * wire::kStateChunkFloats);
  REQUIRE(load_initial_state(program.manifest, program.parameters(), state).ok());
  CHECK(state[0] == -1000.25F);
  CHECK(state[300 * 256 + 6] == -1000.25F + 300 * 256 + 6);
  CHECK(state[300 * 256 + 7] == 0);

  const starling::testing::TempDir folder;
  REQUIRE(write_file_atomically(folder / "parameters", program.file).ok());
  const auto file = open_parameters(folder / "parameters");
  REQUIRE(file.ok());
  const auto digest = initial_state_digest(program.manifest, *file);
  REQUIRE_MESSAGE(digest.ok(), digest.error().message);
  CHECK(*digest == state_digest(state));
  CHECK(open_parameters(folder / "nothing").error().code == ErrorCode::not_found);
}

TEST_CASE("a file with other tensors, values that are not finite, or too few bytes is no program's first state") {
  Program program;
  const auto refused = [&program] {
    const auto digest = initial_state_digest(program.manifest, program.parameters());
    return !digest.ok() && digest.error().code == ErrorCode::corrupt;
  };
  CHECK_FALSE(refused());
  Program other = program;
  other.manifest.model.script.tensors[1].shape = {8};
  std::swap(program.manifest, other.manifest);
  CHECK(refused());
  std::swap(program.manifest, other.manifest);
  const std::string whole = program.file;
  program.file.resize(whole.size() - 4);
  CHECK(refused());
  program.file = whole;
  const float infinite = std::numeric_limits<float>::infinity();
  program.file.replace(whole.size() - 4, 4, reinterpret_cast<const char*>(&infinite), 4);
  CHECK(refused());
}

TEST_CASE("another first state than the signed one is refused, with what to do; older manifests say nothing") {
  wire::RunManifest manifest;
  manifest.run_id = "poems";
  Digest made;
  made.bytes.fill(3);
  CHECK(check_initial_state(manifest, made).ok());
  manifest.initial_state_digest = made;
  CHECK(check_initial_state(manifest, made).ok());
  manifest.initial_state_digest.bytes[0] = 4;
  const Status status = check_initial_state(manifest, made);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == ErrorCode::failed_precondition);
  CHECK(status.error().message.find("update Starling") != std::string::npos);
}
