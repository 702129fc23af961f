#include "tests/gui/support/real_daemon.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <string>

#include "shared/base/verify.h"

namespace starling::testing {

RealDaemon::~RealDaemon() { kill(); }

const char* RealDaemon::program() { return STARLINGD; }

void RealDaemon::start() {
  std::string dir = dir_.path().string();
  std::string words[] = {program(), "--data-dir", dir, "--listen", "127.0.0.1"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  const int failed = posix_spawn(&pid_, program(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  VERIFY(failed == 0);
}

void RealDaemon::signal(int number) const { ::kill(pid_, number); }

void RealDaemon::kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace starling::testing
