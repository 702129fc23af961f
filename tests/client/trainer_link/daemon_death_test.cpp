#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "shared/base/unique_fd.h"

namespace {

constexpr int kPatienceMs = 20'000;

struct Daemon {
  pid_t pid = -1;
  pid_t trainer = -1;
};

// Starts test_daemon and reads its trainer's process id from its output.
Daemon start_daemon() {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  Daemon daemon;
  daemon.pid = ::fork();
  if (daemon.pid == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::execl(TEST_DAEMON, TEST_DAEMON, TEST_CHILD, nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  FILE* output = ::fdopen(ends[0], "r");
  char line[64] = "";
  REQUIRE(std::fgets(line, sizeof line, output) != nullptr);
  std::fclose(output);
  daemon.trainer = std::atoi(line);
  return daemon;
}

}  // namespace

TEST_CASE("a killed daemon takes its trainer along, in the middle of a batch") {
  const Daemon daemon = start_daemon();
  REQUIRE(daemon.trainer > 0);
  const starling::UniqueFd trainer(static_cast<int>(::syscall(SYS_pidfd_open, daemon.trainer, 0)));
  REQUIRE(trainer);
  pollfd end{trainer.get(), POLLIN, 0};
  CHECK(::poll(&end, 1, 0) == 0);  // the trainer is alive
  REQUIRE(::kill(daemon.pid, SIGKILL) == 0);
  REQUIRE(::waitpid(daemon.pid, nullptr, 0) == daemon.pid);
  CHECK(::poll(&end, 1, kPatienceMs) == 1);
}
