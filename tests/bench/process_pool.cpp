#include "tests/bench/process_pool.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <utility>

extern char** environ;

namespace starling::bench {
Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& arguments,
                                                          const std::string& program, const std::string& log) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorCode::io, fmt::format("socketpair: {}", std::strerror(errno))};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (!log.empty()) {
    constexpr mode_t kPrivate = 0600;
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, kPrivate);
  }
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int problem = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (problem != 0) {
    ::close(ends[0]);
    return Error{ErrorCode::io, fmt::format("start '{}': {}", program, std::strerror(problem))};
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, ends[0]));
}

ChildProcess::~ChildProcess() {
  ::close(fd_);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Status ChildProcess::send(const std::string& line) {
  const std::string text = line + "\n";
  if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    return Error{ErrorCode::unavailable, "a child process ended early"};
  }
  return {};
}

Result<std::string> ChildProcess::receive() {
  std::size_t end = std::string::npos;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    char chunk[4096];
    const ssize_t got = ::recv(fd_, chunk, sizeof chunk, 0);
    if (got <= 0) return Error{ErrorCode::unavailable, "a child process ended early"};
    buffer_.append(chunk, static_cast<std::size_t>(got));
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

Result<std::vector<std::string>> ask_all(const Children& children, const std::string& command) {
  STARLING_TRY(tell_all(children, command));
  return hear_all(children);
}

Status tell_all(const Children& children, const std::string& command) {
  for (const auto& child : children) STARLING_TRY(child->send(command));
  return {};
}

Result<std::vector<std::string>> hear_all(const Children& children) {
  std::vector<std::string> answers;
  for (const auto& child : children) {
    STARLING_ASSIGN(std::string line, child->receive());
    answers.push_back(std::move(line));
  }
  return answers;
}

Status rest_beside(const Children& children, Duration length) {
  std::vector<pollfd> channels;
  for (const auto& child : children) channels.push_back({child->channel(), POLLRDHUP, 0});
  const SystemClock clock;
  const TimePoint end = clock.now() + length;
  for (TimePoint now = clock.now(); now < end; now = clock.now()) {
    const int ended = ::poll(channels.data(), channels.size(), static_cast<int>(to_ms(end - now) + 1));
    if (ended > 0) return Error{ErrorCode::unavailable, "a child process ended early"};
    if (ended < 0 && errno != EINTR) return Error{ErrorCode::io, "the children's channels cannot be watched"};
  }
  return {};
}

std::string read_command() {
  std::string line;
  return std::getline(std::cin, line) ? line : "";
}

void answer(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double times_waited() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_nvcsw);
}

double status_field_bytes(const std::string& pid, const std::string& field) {
  std::ifstream status("/proc/" + pid + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field, 0) == 0) return std::stod(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

double peak_resident_bytes() { return status_field_bytes("self", "VmHWM:"); }
double resident_bytes() { return status_field_bytes("self", "VmRSS:"); }
double resident_code_bytes() { return status_field_bytes("self", "RssFile:"); }

}  // namespace starling::bench
