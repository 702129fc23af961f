#include "client/updates/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "shared/base/os_error.h"
#include "shared/base/unique_fd.h"

extern char** environ;

namespace starling::updates {
namespace {

constexpr int kPollMs = 100;

Result<pid_t> spawn(const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);  // libraries' descriptors among them
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);  // the daemon blocks the signals that it waits for
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int problem = posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0) return os_error("start", command[0], problem);
  return child;
}

// Reads until the program and all processes that have its output have closed it. False when the time is up or `go_on`
// says no.
bool drain(int fd, std::string& kept, TimePoint deadline, const std::function<bool()>& go_on) {
  const SystemClock clock;
  std::array<char, 1024> piece{};
  while (clock.now() < deadline && go_on()) {
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, kPollMs) <= 0) continue;
    const ssize_t size = read(fd, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return true;
    kept.append(piece.data(), static_cast<std::size_t>(size));
    if (kept.size() > kChildOutputKept) kept.erase(0, kept.size() - kChildOutputKept);
  }
  return false;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

Result<std::string> run_child(const std::vector<std::string>& command, Duration limit,
                              const std::function<bool()>& go_on) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return os_error("make a pipe for", command[0], errno);
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  STARLING_ASSIGN(const pid_t child, spawn(command, writing.get()));
  writing.reset();
  std::string output;
  const bool ended = drain(reading.get(), output, SystemClock().now() + limit, go_on);
  if (!ended) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended && !go_on()) return Error{ErrorCode::unavailable, "run '" + command[0] + "': stopped on request"};
  if (!ended) return Error{ErrorCode::deadline_exceeded, "run '" + command[0] + "': it took too long"};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  const std::string how = WIFSIGNALED(status) ? std::string("it was ended by ") + strsignal(WTERMSIG(status))
                                              : "it failed (" + std::to_string(WEXITSTATUS(status)) + ")";
  return Error{ErrorCode::io, "run '" + command[0] + "': " + how + ": " + last_line(output)};
}

}  // namespace starling::updates
