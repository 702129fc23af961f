#include "tests/netlab/net_namespace.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

extern char** environ;

namespace starling::netlab {
namespace {

constexpr const char* kOwnNamespace = "/proc/thread-self/ns/net";
constexpr std::size_t kComplaintBytesMax = 4096;

UniqueFd open_own() { return UniqueFd(::open(kOwnNamespace, O_RDONLY | O_CLOEXEC)); }

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 512> chunk{};
  for (ssize_t got = 0; (got = ::read(fd, chunk.data(), chunk.size())) > 0;) {
    if (text.size() < kComplaintBytesMax) text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Result<NetNamespace> NetNamespace::create() {
  UniqueFd home = open_own();
  if (!home || ::unshare(CLONE_NEWNET) != 0) {
    return Error{ErrorCode::permission_denied,
                 fmt::format("make a network namespace: {}; shaped links need root: run this as root, or with sudo",
                             std::strerror(errno))};
  }
  NetNamespace made(open_own());
  VERIFY(made.fd_ && ::setns(home.get(), CLONE_NEWNET) == 0);
  const InNamespace there(made);
  std::ofstream("/proc/sys/net/ipv6/conf/all/disable_ipv6") << "1\n";  // absent without IPv6
  STARLING_TRY(run_tool({"ip", "link", "set", "lo", "up"}));
  return made;
}

std::string NetNamespace::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_.get()); }

InNamespace::InNamespace(const NetNamespace& there) : home_(open_own()) {
  VERIFY(home_ && ::setns(there.fd(), CLONE_NEWNET) == 0);
}

InNamespace::~InNamespace() { VERIFY(::setns(home_.get(), CLONE_NEWNET) == 0); }

Status run_tool(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{ErrorCode::io, fmt::format("pipe: {}", std::strerror(errno))};
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int problem = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  writing.reset();
  if (problem == ENOENT) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("'{}' is not installed: apt-get install iproute2", arguments[0])};
  }
  if (problem != 0) return Error{ErrorCode::io, fmt::format("start '{}': {}", arguments[0], std::strerror(problem))};
  const std::string complaint = read_to_end(reading.get());
  int result = 0;
  ::waitpid(pid, &result, 0);
  if (WIFEXITED(result) && WEXITSTATUS(result) == 0) return {};
  return Error{ErrorCode::io, fmt::format("{}: {}", fmt::join(arguments, " "), complaint)};
}

}  // namespace starling::netlab
