// The real starling-trainer, in its sandbox, on a model of a few thousand parameters.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "client/session/byte_tokens.h"
#include "client/trainer_link/trainer_process.h"
#include "shared/base/machine_limits.h"
#include "shared/protocol/compute_device.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/sketch.h"

using namespace starling;
using namespace starling::trainer_link;

namespace {

constexpr int kRounds = 60;
constexpr int kBatch = 16;

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string result;
  while (result.size() < bytes) result += text;
  result.resize(bytes);
  return result;
}

UniqueFd file_of(const std::string& bytes) {
  UniqueFd fd(::memfd_create("data", MFD_CLOEXEC));
  REQUIRE(fd);
  REQUIRE(::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return fd;
}

TrainerProcessOptions options_of_a_small_run() {
  const std::string text = repeated("the quick brown fox jumps over the lazy dog. ", 40'000);
  TrainerProcessOptions options;
  options.program = STARLING_TRAINER;
  wire::RunManifest& manifest = options.manifest;
  manifest.run_id = "fox";
  manifest.model = {.layers = 1, .width = 32, .heads = 2, .context = 32};
  manifest.data.train = {{}, static_cast<std::int64_t>(text.size())};
  manifest.data.train.sha256.bytes.fill(1);
  manifest.data.validation = {{}, 2'000};
  manifest.data.validation.sha256.bytes.fill(2);
  manifest.micro_batch_size = kBatch;
  manifest.schedule = {.learning_rate = 1e-2, .warmup_rounds = 5, .total_rounds = kRounds};
  manifest.flops_per_sample = wire::flops_per_sample(manifest.model);
  REQUIRE(wire::check_manifest(manifest).ok());
  options.train_data = file_of(text);
  options.validation_data = file_of(text.substr(0, 2'000));
  return options;
}

// Attention with `heads` heads over 2048 words: 17 MB for each head and sample.
TrainerProcessOptions options_of_a_hungry_run(int heads, std::uint64_t memory_bytes) {
  TrainerProcessOptions options = options_of_a_small_run();
  wire::RunManifest& manifest = options.manifest;
  manifest.model = {.layers = 1, .width = 2 * heads, .heads = heads, .context = 2048};
  manifest.data.validation.bytes = 4'000;
  manifest.micro_batch_size = 16;
  manifest.flops_per_sample = wire::flops_per_sample(manifest.model);
  REQUIRE(wire::check_manifest(manifest).ok());
  options.validation_data = file_of(std::string(4'000, 'x'));
  options.limits.memory_bytes = memory_bytes;
  return options;
}

double train(TrainerProcess& trainer, RoundIndex from, RoundIndex to) {
  std::vector<float> gradient(trainer.layout().parameter_count);
  double loss = 0;
  for (RoundIndex round = from; round < to; ++round) {
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    const auto report = trainer.train_batch({round, 0, 0, kBatch}, gradient);
    if (!report.ok()) FAIL(report.error().message);
    for (float& value : gradient) value /= kBatch;
    REQUIRE(trainer.step(round, gradient).ok());
    loss = report->loss_sum / kBatch;
  }
  return loss;
}

// The process's private memory, to which the limit applies.
std::uint64_t private_bytes(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) return std::stoull(line.substr(7)) * 1024;
  }
  return 0;
}

constexpr wire::SampleRange kAudited{0, 0, 0, kBatch};

// The gradient of the audited samples at the replica's parameters.
std::vector<float> gradient_of(TrainerProcess& trainer) {
  std::vector<float> gradient(trainer.layout().parameter_count);
  const auto report = trainer.train_batch(kAudited, gradient);
  if (!report.ok()) FAIL(report.error().message);
  return gradient;
}

struct Sketched {
  wire::SketchedPart part;
  swarm::Sketch sketch{};
};

// The whole vector as one part.
Sketched sketched(const std::vector<float>& gradient) {
  Sketched all{{0, std::ssize(gradient), {}}};
  all.part.seed.bytes.fill(5);
  swarm::add_to_sketch(all.part.seed, 0, gradient, all.sketch);
  return all;
}

}  // namespace

TEST_CASE("the confined trainer learns, survives a kill, evaluates and writes") {
  auto made = TrainerProcess::create(options_of_a_small_run());
  REQUIRE(made.ok());
  TrainerProcess& trainer = **made;
  REQUIRE(trainer.initialize().ok());
  const auto before = trainer.evaluate();
  if (!before.ok()) FAIL(before.error().message);
  CHECK(before->bits_per_byte > 6);
  CHECK(trainer.view().confinement.find("seccomp") != std::string::npos);
  const auto device = trainer.view().device;
  REQUIRE(device);
  MESSAGE("computes on: ", wire::to_text(*device));
  CHECK(device->kind == "cpu");
  CHECK(device->count == 1);
  CHECK(device->memory_bytes == memory_allowed_bytes());
  CHECK(device->backend.starts_with("LibTorch "));
  CHECK(device->precision == "fp32");
  utsname system{};
  REQUIRE(::uname(&system) == 0);
  CHECK(device->platform == std::string("linux ") + system.machine);
  CHECK(device->card_unused.empty());
  const double first = train(trainer, 0, 1);
  train(trainer, 1, kRounds / 2);
  REQUIRE(::kill(trainer.view().pid, SIGKILL) == 0);
  std::vector<float> lost(trainer.layout().parameter_count);
  CHECK_FALSE(trainer.train_batch({kRounds / 2, 0, 0, kBatch}, lost).ok());
  const double last = train(trainer, kRounds / 2, kRounds);
  CHECK(last < 0.5 * first);
  const auto after = trainer.evaluate();
  REQUIRE(after.ok());
  CHECK(after->bits_per_byte < 0.5 * before->bits_per_byte);
  const auto text = trainer.sample_tokens(session::tokens_of_bytes("the quick "), 20, 0.5);
  REQUIRE(text.ok());
  CHECK(text->size() == 20);
  CHECK(trainer.view().starts == 2);
  CHECK(trainer.view().deaths == 1);
  MESSAGE("wrote: ", session::bytes_of_tokens(*text));
}

TEST_CASE("a trainer that may use a card and has none says why, and the precision that it computes in") {
  TrainerProcessOptions options = options_of_a_small_run();
  options.manifest.precision = wire::Precision::bf16;
  options.limits.gpu_memory_percent = 50;
  options.limits.memory_bytes = std::uint64_t{4} << 30;
  auto made = TrainerProcess::create(std::move(options));
  REQUIRE(made.ok());
  TrainerProcess& trainer = **made;
  REQUIRE(trainer.initialize().ok());
  REQUIRE(trainer.evaluate().ok());
  const auto device = trainer.view().device;
  REQUIRE(device);
  if (!device->is_processor()) return;
  CHECK_FALSE(device->card_unused.empty());
  if (device->backend.ends_with("without CUDA")) {
    CHECK(device->card_unused == (trainer.view().confinement.find("Landlock (ABI") != std::string::npos
                                      ? "this LibTorch is built without CUDA"
                                      : "this kernel has no Landlock to confine its driver with"));
  }
  CHECK(device->memory_max_bytes == std::int64_t{4} << 30);
  std::stringstream facts;
  facts << std::ifstream("/proc/cpuinfo").rdbuf();
  const bool fast = facts.str().find("_bf16") != std::string::npos;  // amx_bf16, avx512_bf16
  CHECK(device->precision == (fast ? "bf16" : "fp32"));
}

TEST_CASE("without Landlock the trainer opens no file after its start, and computes the same bits") {
  std::vector<std::vector<float>> states;
  for (const bool landlock : {true, false}) {
    TrainerProcessOptions options = options_of_a_small_run();
    options.limits.landlock = landlock;
    auto made = TrainerProcess::create(std::move(options));
    REQUIRE(made.ok());
    TrainerProcess& trainer = **made;
    REQUIRE(trainer.initialize().ok());
    train(trainer, 0, 5);
    const auto evaluation = trainer.evaluate();
    if (!evaluation.ok()) FAIL(evaluation.error().message);
    REQUIRE(trainer.sample_tokens(session::tokens_of_bytes("the quick "), 20, 0.5).ok());
    if (!landlock) CHECK(trainer.view().confinement.find("opens no file at all") != std::string::npos);
    CHECK(trainer.view().deaths == 0);
    states.emplace_back(trainer.state().begin(), trainer.state().end());
  }
  CHECK((states[0] == states[1]));
}

TEST_CASE("the confined trainer audits at another state, also without Landlock, and trains on to the same bits") {
  for (const bool landlock : {true, false}) {
    TrainerProcessOptions options = options_of_a_small_run();
    options.limits.landlock = landlock;
    options.manifest.micro_batch_size = 1;  // another size, if it is faster, rounds otherwise
    auto made = TrainerProcess::create(std::move(options));
    REQUIRE(made.ok());
    TrainerProcess& trainer = **made;
    REQUIRE(trainer.initialize().ok());
    const std::size_t count = trainer.layout().parameter_count;
    const std::vector<float> parameters(trainer.state().begin(), trainer.state().begin() + static_cast<long>(count));
    const std::vector<float> gradient = gradient_of(trainer);
    train(trainer, 0, 2);
    const std::vector<float> after = gradient_of(trainer);
    CHECK(after != gradient);
    const Sketched expected = sketched(gradient);
    const auto check_audit = [&] {
      std::vector<double> sketches(wire::kSketchFloats);
      const Status done = trainer.audit_batch(kAudited, {&expected.part, 1}, parameters, sketches);
      if (!done.ok()) FAIL(done.error().message);
      swarm::Sketch found{};
      std::copy(sketches.begin(), sketches.end(), found.begin());
      CHECK(swarm::relative_distance(found, expected.sketch) < 1e-6);
      CHECK(gradient_of(trainer) == after);
    };
    check_audit();

    // Killed, or paused, in the middle of an audit.
    const std::vector<float> state(trainer.state().begin(), trainer.state().end());
    for (const bool kills : {true, false}) {
      const int pid = trainer.view().pid;
      std::atomic<int> audits{0};
      std::atomic<bool> ended{false};
      std::thread ending([&] {
        while (audits < 3) std::this_thread::yield();
        if (kills) ::kill(pid, SIGKILL);
        while (!kills && !ended) trainer.stop();  // between two calls it is no reason for the second one to fail
      });
      std::vector<double> sketches;
      Status audited;
      while (audited.ok()) {
        sketches.assign(wire::kSketchFloats, 0.5);
        ++audits;
        audited = trainer.audit_batch(kAudited, {&expected.part, 1}, parameters, sketches);
      }
      ended = true;
      ending.join();
      CHECK(audited.error().code == ErrorCode::unavailable);
      CHECK(sketches == std::vector<double>(sketches.size(), 0.5));
      CHECK(std::equal(state.begin(), state.end(), trainer.state().begin()));
      CHECK(gradient_of(trainer) == after);
      check_audit();
    }
    CHECK(trainer.view().deaths == 1);
  }
}

TEST_CASE("a micro-batch that memory does not hold is computed in pieces") {
  auto made = TrainerProcess::create(options_of_a_hungry_run(4, std::uint64_t{640} << 20));
  REQUIRE(made.ok());
  TrainerProcess& trainer = **made;
  REQUIRE(trainer.initialize().ok());
  std::vector<float> gradient(trainer.layout().parameter_count);
  const auto report = trainer.train_batch({0, 0, 0, 16}, gradient);  // 1.1 GB of attention at once
  if (!report.ok()) FAIL(report.error().message);
  CHECK(report->samples == 16);
  CHECK(trainer.view().deaths == 0);
}

TEST_CASE(
    "a trainer that gets too little memory for its libraries says so, or does with less, and never waits for it") {
  auto made = TrainerProcess::create(options_of_a_small_run());
  REQUIRE(made.ok());
  REQUIRE((*made)->evaluate().ok());
  const std::uint64_t used = private_bytes((*made)->view().pid);
  REQUIRE(used > 0);
  int refused = 0;
  for (std::uint64_t less = 0; less < 5; ++less) {
    TrainerProcessOptions options = options_of_a_small_run();
    options.limits.memory_bytes = used - std::min(used / 2, less * 12'000'000);
    auto limited = TrainerProcess::create(std::move(options));
    REQUIRE(limited.ok());
    std::vector<float> gradient((*limited)->layout().parameter_count);
    const auto report = (*limited)->train_batch({0, 0, 0, kBatch}, gradient);
    if (report.ok()) continue;
    ++refused;
    INFO(report.error().message);
    CHECK(report.error().code != ErrorCode::deadline_exceeded);
  }
  CHECK(refused > 0);
}

TEST_CASE("a sample that memory does not hold is told in words, by a trainer that lives on") {
  auto made = TrainerProcess::create(options_of_a_hungry_run(32, std::uint64_t{512} << 20));
  REQUIRE(made.ok());
  TrainerProcess& trainer = **made;
  REQUIRE(trainer.initialize().ok());
  std::vector<float> gradient(trainer.layout().parameter_count);
  for (RoundIndex round = 0; round < 3; ++round) {
    const auto report = trainer.train_batch({round, 0, 0, 16}, gradient);
    REQUIRE_FALSE(report.ok());
    CHECK(report.error().code == ErrorCode::resource_exhausted);
    CHECK(report.error().message.find("prefs set memory_idle_percent") != std::string::npos);
  }
  CHECK(trainer.view().starts == 1);
  CHECK(trainer.view().deaths == 0);
  CHECK(std::all_of(gradient.begin(), gradient.end(), [](float value) { return value == 0; }));
}
