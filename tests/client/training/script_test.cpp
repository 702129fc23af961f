// An operator's own models, in the product's trainer.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "client/models/script.h"
#include "client/optim/step_journal.h"
#include "client/training/torch_trainer.h"
#include "shared/run/model_layout.h"
#include "shared/state/initial_state.h"
#include "tests/client/training/data_files.h"
#include "tests/client/training/script_files.h"

using namespace starling;
using namespace starling::training;
using namespace starling::training::testing;

namespace {

constexpr SampleCount kBatch = 16;

wire::RunManifest manifest_for_images() {
  wire::RunManifest manifest;
  manifest.data.kind = wire::DataKind::labelled;
  manifest.model.classes = 2;
  manifest.model.inputs = 192;
  manifest.peers_max = 1;
  manifest.micro_batch_size = kBatch;
  manifest.schedule.kind = wire::ScheduleKind::constant;
  manifest.schedule.warmup_rounds = 1;
  manifest.schedule.learning_rate = 3e-3;
  return manifest;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A trainer for a run on images of 8 pixels, with the script's parameters or, for another model, the run's own.
struct Trainee {
  Trainee(wire::RunManifest wanted, const ScriptFiles& script)
      : manifest(std::move(wanted)), files(script), file(two_kinds_of_images(64, 8)) {
    const std::size_t parameters = wire::parameter_count(manifest.model);
    state.resize(wire::state_size(manifest));
    scratch.resize(parameters);
    sum.resize(parameters);
    REQUIRE(state::load_initial_state(manifest, state::parameters_in(bytes_of(files.parameters)), state).ok());
    TorchTrainerOptions options{manifest, file, file, state, scratch, journal.get()};
    options.program = bytes_of(files.program);
    made = TorchTrainer::create(options);
  }
  TorchTrainer& trainer() {
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    return **made;
  }

  wire::RunManifest manifest;
  ScriptFiles files;
  Bytes file;
  std::vector<float> state, scratch, sum;
  std::unique_ptr<optim::StepJournal> journal = std::make_unique<optim::StepJournal>();
  Result<std::unique_ptr<TorchTrainer>> made = Error{ErrorCode::internal, "not made yet"};
};

Trainee trainee_of(const ScriptFiles& files) {
  wire::RunManifest manifest = manifest_for_images();
  describe(files, manifest.model);
  return {manifest, files};
}

std::string refusal_of(const ScriptFiles& files) {
  Trainee trainee = trainee_of(files);
  if (!trainee.made.ok()) return trainee.made.error().message;
  const auto report = trainee.trainer().train_batch({0, 0, 0, kBatch}, trainee.sum);
  return report.ok() ? "" : report.error().message;
}

bool mentions(const std::string& message, const std::string& tokens) {
  return message.find(tokens) != std::string::npos;
}

const char* const kHead = "def forward(self, values, classes):\n";

}  // namespace

TEST_CASE("a script's loss and gradient are those of the same perceptron among our models") {
  Trainee script = trainee_of(perceptron(192, 24, 2));
  const auto report = script.trainer().train_batch({0, 0, 0, kBatch}, script.sum);
  REQUIRE_MESSAGE(report.ok(), report.error().message);

  wire::RunManifest manifest = manifest_for_images();
  manifest.model.architecture = wire::Architecture::mlp;
  manifest.model.layers = 1;
  manifest.model.width = 24;
  std::vector<float> state(wire::state_size(manifest)), scratch(script.sum.size()), sum(script.sum.size());
  std::copy(script.state.begin(), script.state.end(), state.begin());
  const auto journal = std::make_unique<optim::StepJournal>();
  auto ours = TorchTrainer::create({manifest, script.file, script.file, state, scratch, journal.get(), 1});
  REQUIRE(ours.ok());
  const auto expected = (*ours)->train_batch({0, 0, 0, kBatch}, sum);
  REQUIRE(expected.ok());
  CHECK(report->loss_sum == doctest::Approx(expected->loss_sum).epsilon(1e-6));
  double largest = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    largest = std::max<double>(largest, std::abs(sum[i] - script.sum[i]));
  }
  CHECK(largest < 1e-5);
}

TEST_CASE("a script learns, and is judged without what it leaves to chance") {
  Trainee trainee = trainee_of(perceptron(192, 24, 2, 0.5));
  TorchTrainer& trainer = trainee.trainer();
  const auto before = trainer.evaluate();
  REQUIRE_MESSAGE(before.ok(), before.error().message);
  CHECK(trainer.evaluate()->bits_per_byte == before->bits_per_byte);
  CHECK_FALSE(before->accuracy);  // a script reports its loss and nothing else
  for (RoundIndex round = 0; round < 30; ++round) {
    std::fill(trainee.sum.begin(), trainee.sum.end(), 0.0F);
    REQUIRE(trainer.train_batch({round, 0, 0, kBatch}, trainee.sum).ok());
    for (float& value : trainee.sum) value /= kBatch;
    REQUIRE(trainer.step(round, trainee.sum).ok());
  }
  CHECK(trainer.evaluate()->bits_per_byte < 0.3 * before->bits_per_byte);
}

TEST_CASE("chance falls alike for everybody who is given the same samples") {
  std::vector<float> first;
  for (int computer = 0; computer < 2; ++computer) {
    Trainee trainee = trainee_of(perceptron(192, 24, 2, 0.5));
    REQUIRE(trainee.trainer().train_batch({3, 0, 16, kBatch}, trainee.sum).ok());
    if (computer == 0) first = trainee.sum;
    CHECK(trainee.sum == first);
  }
}

TEST_CASE("a program that draws random numbers is known by its operator, and is not audited") {
  const auto operator_in = [](const std::string& line) {
    const ScriptFiles files = make_script({{"w", {2}}}, kHead + ("    " + line + "\n    return (self.w * x).sum()\n"));
    return models::random_operator_of(bytes_of(files.program));
  };
  CHECK(operator_in("x = torch.dropout(values, 0.5, self.training).sum()") == "aten::dropout");
  CHECK(operator_in("x = torch.feature_alpha_dropout(values, 0.5, True).sum()") == "aten::feature_alpha_dropout");
  CHECK(operator_in("x = torch.rand([2])") == "aten::rand");
  CHECK(operator_in("x = torch.randperm(2)") == "aten::randperm");
  CHECK(operator_in("x = torch.bernoulli(values).sum()") == "aten::bernoulli");
  CHECK(operator_in("x = torch.multinomial(values.flatten(1), 2).sum()") == "aten::multinomial");
  CHECK(operator_in("x = torch.zeros([2]).normal_()") == "aten::normal_");
  CHECK(operator_in("x = torch.zeros([2]).exponential_()") == "aten::exponential_");
  CHECK(operator_in("x = torch.rrelu(values, 0.1, 0.3, True).sum()") == "aten::rrelu");
  CHECK(operator_in("x = values.sum()\n    if x > 0:\n        x = torch.randn_like(x)") == "aten::randn_like");
  CHECK(operator_in("x = torch.layer_norm(values, [8]).sum()").empty());
  CHECK(operator_in("x = torch.dropout(values, 0.0, self.training).sum()").empty());
  CHECK(operator_in("x = torch.dropout(values, 0.5, False).sum()").empty());
  CHECK(operator_in("x = torch.rrelu(values, 0.1, 0.3, False).sum()").empty());

  for (const double dropout : {0.0, 0.5}) {
    Trainee trainee = trainee_of(perceptron(192, 24, 2, dropout));
    const std::vector<float> parameters(trainee.sum.size(), 0.01F);
    const wire::SketchedPart all{0, std::ssize(parameters), {}};
    std::vector<double> sketches(wire::kSketchFloats);
    const Status audited = trainee.trainer().audit_batch({0, 0, 0, kBatch}, {&all, 1}, parameters, sketches);
    CHECK(audited.ok() == (dropout == 0));
    if (!audited.ok()) CHECK(mentions(audited.error().message, "aten::dropout"));
    if (audited.ok()) CHECK(sketches != std::vector<double>(wire::kSketchFloats));
  }
}

TEST_CASE("what a sample of a script costs is counted call by call") {
  const ScriptFiles files = perceptron(192, 24, 2);
  wire::ModelOptions same;
  same.architecture = wire::Architecture::mlp;
  same.layers = 1;
  same.width = 24;
  same.inputs = 192;
  same.classes = 2;
  const auto counted = models::count_sample(bytes_of(files.program), {.tokens = 0, .values = {3, 8, 8}});
  CHECK(counted.flops == doctest::Approx(wire::flops_per_sample(same)).epsilon(1e-9));
  // The widest weights' gradient before it is added up, 192 · 24 floats, and the values kept for 24 units.
  CHECK(counted.activation_bytes > 192 * 24 * 4);
  CHECK(counted.activation_bytes < 192 * 24 * 4 + 8192);
}

TEST_CASE("the memory that a sample of a script takes grows with what it computes") {
  const auto memory_of = [](int width) {
    return models::count_sample(bytes_of(perceptron(192, width, 2).program), {.tokens = 0, .values = {3, 8, 8}})
        .activation_bytes;
  };
  const auto narrow = memory_of(1000), wide = memory_of(10'000);
  CHECK(static_cast<double>(wide) == doctest::Approx(10 * static_cast<double>(narrow)).epsilon(0.05));
}

TEST_CASE("a script that is not what its manifest says, or that volunteers could not agree on, is refused in words") {
  const ScriptFiles good = perceptron(192, 24, 2);
  ScriptFiles another = make_script({{"w", {192}}}, std::string(kHead) + "    return self.w.sum()\n");
  another.program = good.program;
  CHECK(mentions(refusal_of(another), "it has no parameter 'w'"));
  ScriptFiles broken = good;
  broken.program.resize(broken.program.size() / 2);
  CHECK(refusal_of(broken) != "");
  const ScriptFiles vector =
      make_script({{"w", {192}}}, std::string(kHead) + "    return values.flatten(1) * self.w\n");
  CHECK(mentions(refusal_of(vector), "forward returns no loss"));
  const ScriptFiles averaging = make_script({{"w", {3}}},
                                            std::string(kHead) +
                                                "    x = torch.batch_norm(values, self.w, None, self.mean, self.var, "
                                                "True, 0.1, 1e-5, False)\n"
                                                "    return x.mean()\n",
                                            {{"mean", {3}}, {"var", {3}}});
  CHECK(mentions(refusal_of(averaging), "its buffer"));
  CHECK(mentions(refusal_of(make_script({{"w", {2}}}, std::string(kHead) + "    return self.w.sum() / 0.0\n")),
                 "is not finite"));
}
