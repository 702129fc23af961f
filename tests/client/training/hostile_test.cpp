// A model's program that tries to do more than compute, in the real trainer.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "client/trainer_link/trainer_process.h"
#include "shared/base/files.h"
#include "tests/client/training/script_files.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::trainer_link;
using starling::training::testing::make_script;
using starling::training::testing::ScriptFiles;

namespace {

constexpr SampleCount kBatch = 4;

UniqueFd file_of(const std::string& bytes) {
  UniqueFd fd(::memfd_create("file", MFD_CLOEXEC));
  REQUIRE(::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return fd;
}

// A run with such a program: its forward's result is the expression `value`.
class Visitor {
 public:
  Visitor(const std::string& value, bool sandbox, bool landlock = true) {
    const ScriptFiles files = make_script(
        {{"w", {2}}}, "def forward(self, words, targets):\n    return self.w.sum() * 0.0 + " + value + "\n");
    TrainerProcessOptions options;
    options.program = HOSTILE_TRAINER;
    wire::RunManifest& manifest = options.manifest;
    manifest.run_id = "hostile";
    training::testing::describe(files, manifest.model);
    manifest.model.context = 16;
    const std::string text(40'000, 'a');
    manifest.data.train = {manifest.model.script.program.sha256, static_cast<std::int64_t>(text.size())};
    manifest.data.validation = {manifest.model.script.program.sha256, 2'000};
    manifest.micro_batch_size = kBatch;
    manifest.flops_per_sample = 1e3;
    REQUIRE_MESSAGE(wire::check_manifest(manifest).ok(), wire::check_manifest(manifest).error().message);
    options.train_data = file_of(text);
    options.validation_data = file_of(text.substr(0, 2'000));
    options.model_program = file_of(files.program);
    options.initial_parameters = folder_ / "parameters";
    REQUIRE(write_file_atomically(options.initial_parameters, files.parameters).ok());
    options.limits.sandbox = sandbox;
    options.limits.landlock = landlock;
    auto made = TrainerProcess::create(std::move(options));
    REQUIRE(made.ok());
    trainer_ = std::move(made).value();
    REQUIRE(trainer_->initialize().ok());
  }

  // Result of one batch: the mean of forward's results, or its error.
  Result<double> result() {
    std::vector<float> gradient(trainer_->layout().parameter_count);
    STARLING_ASSIGN(const session::BatchReport report, trainer_->train_batch({0, 0, 0, kBatch}, gradient));
    return report.loss_sum / static_cast<double>(kBatch);
  }
  [[nodiscard]] TrainerProcess& trainer() const { return *trainer_; }
  // A kernel without Landlock runs no program at all.
  [[nodiscard]] bool was_refused(const Result<double>& result) const {
    return !result.ok() && result.error().message.find("no Landlock") != std::string::npos;
  }

 private:
  const testing::TempDir folder_;
  std::unique_ptr<TrainerProcess> trainer_;
};

struct Listener {
  Listener() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(fd.get(), 4) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port = ntohs(address.sin_port);
  }
  [[nodiscard]] bool was_called() const {
    pollfd watched{fd.get(), POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
  }
  UniqueFd fd;
  int port = 0;
};

}  // namespace

TEST_CASE("a program gets no card, and its trainer's owner reads why") {
  Visitor visitor("1.0", false);
  visitor.trainer().set_share({.threads = 1, .memory_bytes = 0, .gpu_memory_percent = 50});
  REQUIRE(visitor.result().ok());
  REQUIRE(visitor.trainer().view().device);
  CHECK(visitor.trainer().view().device->kind == "cpu");
  CHECK(visitor.trainer().view().device->card_unused ==
        "the run's model is a program of the project's own, and gets no card");
}

TEST_CASE("a program cannot read the volunteer's files") {
  const testing::TempDir home;
  const float secret = 42;
  std::ofstream(home / "secret", std::ios::binary).write(reinterpret_cast<const char*>(&secret), sizeof secret);
  const std::string value = "torch.from_file(\"" + (home / "secret").string() + "\", False, 1).sum()";
  const auto outside = Visitor(value, false).result();
  REQUIRE_MESSAGE(outside.ok(), outside.error().message);
  CHECK(*outside == 42);  // so the attempt proves something
  Visitor visitor(value, true);
  const auto inside = visitor.result();
  REQUIRE_FALSE(inside.ok());
  CHECK((visitor.was_refused(inside) || inside.error().message.find("Permission denied") != std::string::npos));
}

TEST_CASE("without Landlock no program is run") {
  Visitor visitor("torch.ones([1]).sum()", true, false);
  const auto result = visitor.result();
  CHECK_MESSAGE(visitor.was_refused(result), (result.ok() ? "it ran" : result.error().message));
  CHECK(Visitor("torch.ones([1]).sum()", false).result().ok());
}

TEST_CASE("a program cannot write files") {
  const testing::TempDir home;
  for (const bool sandbox : {false, true}) {
    const auto path = home / (sandbox ? "inside" : "outside");
    Visitor visitor("torch.from_file(\"" + path.string() + "\", True, 4).sum()", sandbox);
    CHECK(visitor.result().ok() == !sandbox);
    CHECK(std::filesystem::exists(path) == !sandbox);
  }
}

TEST_CASE("a program that has made the process its own still reaches nobody") {
  for (const bool sandbox : {false, true}) {
    const Listener listener;
    Visitor visitor("torch.starling_connect(" + std::to_string(listener.port) + ")", sandbox);
    const auto result = visitor.result();
    CHECK(listener.was_called() == !sandbox);
    if (visitor.was_refused(result)) continue;
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    CHECK(*result == (sandbox ? EPERM : 0));
  }
}
