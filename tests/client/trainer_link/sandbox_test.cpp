#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client/session/byte_tokens.h"
#include "client/trainer_link/child_fds.h"
#include "tests/client/trainer_link/tiny_run.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::trainer_link;
using namespace starling::trainer_link::testing;

namespace {

class Prisoner {
 public:
  explicit Prisoner(bool sandbox = true, int gpu_memory_percent = 0, const std::string& behaviour = "")
      : Prisoner(ChildLimits{.gpu_memory_percent = gpu_memory_percent, .sandbox = sandbox}, behaviour) {}
  explicit Prisoner(const ChildLimits& limits, const std::string& behaviour = "") {
    TrainerProcessOptions options = tiny_options(TEST_CHILD, behaviour);
    options.limits.sandbox = limits.sandbox;
    options.limits.landlock = limits.landlock;
    options.limits.gpu_memory_percent = limits.gpu_memory_percent;
    auto made = TrainerProcess::create(std::move(options));
    REQUIRE(made.ok());
    trainer_ = std::move(made).value();
  }
  std::string tries_to(const std::string& attempt) {
    const auto result = trainer_->sample_tokens(session::tokens_of_bytes(attempt), 0, 0);
    REQUIRE(result.ok());
    return session::bytes_of_tokens(*result);
  }
  TrainerProcessView view() const { return trainer_->view(); }

 private:
  std::unique_ptr<TrainerProcess> trainer_;
};

bool has_landlock(const Prisoner& prisoner) {
  return prisoner.view().confinement.find("Landlock (ABI") != std::string::npos;
}

}  // namespace

TEST_CASE("a confined trainer opens no socket, runs no program and starts no process" * doctest::skip(kSanitized)) {
  Prisoner prisoner;
  CHECK(prisoner.tries_to("socket inet") != "done");
  CHECK(prisoner.tries_to("socket unix") != "done");
  CHECK(prisoner.tries_to("exec") != "done");
  for (int i = 0; i < 100; ++i) CHECK(prisoner.tries_to("fork") != "done");
  CHECK(prisoner.tries_to("unlimit") != "done");
  CHECK(prisoner.tries_to("thread") == "done");
  CHECK(prisoner.view().starts == 1);
}

TEST_CASE("a confined trainer neither signals nor traces anybody" * doctest::skip(kSanitized)) {
  Prisoner prisoner;
  const std::string us = std::to_string(::getpid());
  CHECK(prisoner.tries_to("kill " + us) != "done");
  CHECK(prisoner.tries_to("ptrace " + us) != "done");
}

TEST_CASE("a confined trainer writes no file, and reads none of the volunteer's" * doctest::skip(kSanitized)) {
  const starling::testing::TempDir folder;
  const auto secret = folder / "secret";
  std::ofstream(secret) << "mine";
  Prisoner prisoner;
  CHECK(prisoner.tries_to("write " + secret.string()) != "done");
  CHECK(prisoner.tries_to("create " + (folder / "new").string()) != "done");
  CHECK(prisoner.tries_to("delete " + secret.string()) != "done");
  CHECK(prisoner.tries_to("write /dev/null") != "done");
  CHECK(std::filesystem::exists(secret));
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
  if (!has_landlock(prisoner)) return;
  CHECK(prisoner.tries_to("read " + secret.string()) != "done");
  CHECK(prisoner.tries_to("list " + folder.path().string()) != "done");
  CHECK(prisoner.tries_to("read /etc/passwd") != "done");
  CHECK(prisoner.tries_to("read /proc/cpuinfo") == "done");
}

TEST_CASE("without Landlock a confined trainer opens no file at all, and leaves the card alone" *
          doctest::skip(kSanitized)) {
  const starling::testing::TempDir folder;
  const auto secret = folder / "secret";
  std::ofstream(secret) << "mine";
  Prisoner prisoner(ChildLimits{.gpu_memory_percent = 50, .landlock = false});
  for (const std::string& path : {secret.string(), std::string("/etc/passwd"), std::string("/proc/cpuinfo"),
                                  std::string("/usr/lib/os-release"), std::string("/dev/urandom")}) {
    CAPTURE(path);
    CHECK(prisoner.tries_to("read " + path) != "done");
    CHECK(prisoner.tries_to("look " + path) != "done");
    CHECK(prisoner.tries_to("openat2 " + path) != "done");
    CHECK(prisoner.tries_to("write " + path) != "done");
  }
  CHECK(prisoner.tries_to("read /proc/self/fd/" + std::to_string(kTrainFd)) != "done");
  CHECK(prisoner.tries_to("list " + folder.path().string()) != "done");
  CHECK(prisoner.tries_to("create " + (folder / "new").string()) != "done");
  CHECK(prisoner.tries_to("thread") == "done");
  CHECK(prisoner.tries_to("socket inet") != "done");
  const std::string confinement = prisoner.view().confinement;
  CHECK_MESSAGE(confinement.find("opens no file at all") != std::string::npos, confinement);
  REQUIRE(prisoner.view().device);
  CHECK(prisoner.view().device->card_unused == "this kernel has no Landlock to confine its driver with");
  CHECK(prisoner.view().starts == 1);
}

TEST_CASE("a card's driver gets its device files and nothing more" * doctest::skip(kSanitized)) {
  const starling::testing::TempDir folder;
  const auto secret = folder / "secret";
  std::ofstream(secret) << "mine";
  Prisoner prisoner(true, 50);
  CHECK(prisoner.tries_to("write " + secret.string()) != "done");
  CHECK(prisoner.tries_to("create " + (folder / "new").string()) != "done");
  CHECK(prisoner.tries_to("write /dev/null") != "done");
  CHECK(prisoner.tries_to("ioctl") != "done");  // not a command of such a driver
  const auto device = prisoner.view().device;
  REQUIRE(device);
  if (has_landlock(prisoner)) {
    CHECK(device->card_unused.empty());
    CHECK(device->memory_max_bytes == 500);
  } else {
    CHECK(device->card_unused == "this kernel has no Landlock to confine its driver with");
  }
}

TEST_CASE("a card that does not work, or is not there, leaves the processor, and the trainer says why") {
  const auto device_of = [](Prisoner&& prisoner) {
    CHECK_FALSE(prisoner.view().device);  // nothing is known before it has started
    CHECK(prisoner.tries_to("thread") == "done");
    CHECK(prisoner.view().confinement == "not confined");
    REQUIRE(prisoner.view().device);
    return *prisoner.view().device;
  };
  CHECK(device_of(Prisoner(false, 40)).card_unused == "there is none");
  CHECK(device_of(Prisoner(false, 50, "broken_card")).card_unused == "it fell off the bus");
  const wire::ComputeDevice working = device_of(Prisoner(false, 50));
  CHECK(working.card_unused.empty());
  CHECK(working.name == "an abacus");
  CHECK(working.precision == "fp32");
  CHECK(working.memory_bytes == 1000);
  CHECK(working.memory_max_bytes == 500);
  CHECK(device_of(Prisoner(false, 0)).card_unused.empty());  // none was allowed: who did not allow it knows why
}

TEST_CASE("a trainer's words about its device come out plain and short") {
  Prisoner boastful(false, 50, "boastful");
  CHECK(boastful.tries_to("thread") == "done");
  REQUIRE(boastful.view().device);
  CHECK(boastful.view().device->name == "?[2J" + std::string(wire::kDeviceNameBytesMax - 4, 'x'));
}

TEST_CASE("the same attempts succeed outside the sandbox, so they prove something") {
  const starling::testing::TempDir folder;
  Prisoner free(false);
  CHECK(free.tries_to("socket inet") == "done");
  CHECK(free.tries_to("socket unix") == "done");
  CHECK(free.tries_to("fork") == "done");
  CHECK(free.tries_to("ioctl") == "done");
  CHECK(free.tries_to("create " + (folder / "new").string()) == "done");
  CHECK(free.tries_to("write " + (folder / "new").string()) == "done");
  CHECK(free.tries_to("read " + (folder / "new").string()) == "done");
  CHECK(free.tries_to("look " + (folder / "new").string()) == "done");
  CHECK(free.tries_to("openat2 " + (folder / "new").string()) == "done");
  CHECK(free.tries_to("list " + folder.path().string()) == "done");
  CHECK(free.tries_to("delete " + (folder / "new").string()) == "done");
  CHECK(free.tries_to("kill " + std::to_string(::getpid())) == "done");
}

TEST_CASE("the child inherits no descriptor and no environment") {
  const starling::testing::TempDir folder;
  std::ofstream(folder / "open") << "x";
  const int leaked = ::open((folder / "open").c_str(), 0);  // lacks close-on-exec
  REQUIRE(leaked >= 0);
  REQUIRE(::setenv("STARLING_TEST_SECRET", "1", 1) == 0);
  TrainerProcessOptions options = tiny_options(TEST_CHILD);
  auto trainer = TrainerProcess::create(std::move(options));
  REQUIRE(trainer.ok());
  REQUIRE((*trainer)->evaluate().ok());
  const std::string process = "/proc/" + std::to_string((*trainer)->view().pid);
  std::vector<int> descriptors;
  for (const auto& entry : std::filesystem::directory_iterator(process + "/fd")) {
    descriptors.push_back(std::stoi(entry.path().filename()));
  }
  CHECK(descriptors.size() == 7);  // standard ones, channel, memory, two data files
  std::ifstream environment(process + "/environ");
  const std::string text((std::istreambuf_iterator<char>(environment)), std::istreambuf_iterator<char>());
  CHECK(text.find("OMP_NUM_THREADS=1") != std::string::npos);
  CHECK(text.find("STARLING_TEST_SECRET") == std::string::npos);
  ::unsetenv("STARLING_TEST_SECRET");
  ::close(leaked);
}
