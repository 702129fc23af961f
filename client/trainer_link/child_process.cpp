#include "client/trainer_link/child_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <system_error>
#include <utility>

#include "shared/base/log.h"

namespace starling::trainer_link {
namespace {

constexpr std::size_t kLastOutputMax = 1024;
constexpr int kParkedFd = 64;  // descriptors are kept from here on, above the child's numbers

std::vector<char*> c_strings(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn's two argument objects, destroyed with this.
struct SpawnArguments {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnArguments() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  SpawnArguments(const SpawnArguments&) = delete;
  SpawnArguments& operator=(const SpawnArguments&) = delete;
  ~SpawnArguments() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }

  void set_descriptors(const std::vector<UniqueFd>& parked, int error_fd) {
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, error_fd, 2);
    for (std::size_t i = 0; i < parked.size(); ++i) {
      ::posix_spawn_file_actions_adddup2(&actions, parked[i].get(), kFirstChildFd + static_cast<int>(i));
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions, kFirstChildFd + static_cast<int>(parked.size()));
  }

  void set_attributes() {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
};

Error spawn_error(const std::filesystem::path& program, int error_number) {
  const ErrorCode code = error_number == ENOENT   ? ErrorCode::not_found
                         : error_number == ENOMEM ? ErrorCode::resource_exhausted
                                                  : ErrorCode::io;
  return {code, fmt::format("start '{}': {}", program.string(), std::strerror(error_number))};
}

// Whether the child is, or becomes, a zombie.
bool ends_within(pid_t pid, Duration grace) {
  const UniqueFd watch(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{watch.get(), POLLIN, 0};
  return watch && ::poll(&ended, 1, static_cast<int>(to_ms(grace))) == 1;
}

}  // namespace

Result<ChildProcess> ChildProcess::spawn(const SpawnOptions& options) {
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return spawn_error(options.program, errno);
  UniqueFd error_read(pipe_ends[0]);
  const UniqueFd error_write(pipe_ends[1]);  // non-blocking: a child that writes much loses output, but never waits

  std::vector<UniqueFd> parked;
  for (const int fd : options.fds) {
    parked.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, kParkedFd));
    // Without room above kParkedFd the limit of open files is lower still, which the system calls an invalid argument.
    if (!parked.back()) return spawn_error(options.program, errno == EINVAL ? EMFILE : errno);
  }
  SpawnArguments spawn_arguments;
  spawn_arguments.set_descriptors(parked, error_write.get());
  spawn_arguments.set_attributes();

  std::vector<std::string> arguments{options.program.string()};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  pid_t pid = -1;
  const int problem =
      ::posix_spawn(&pid, options.program.c_str(), &spawn_arguments.actions, &spawn_arguments.attributes,
                    c_strings(arguments).data(), c_strings(options.environment).data());
  if (problem != 0) return spawn_error(options.program, problem);
  return ChildProcess(pid, std::move(error_read));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      reaped_(other.reaped_),
      ended_by_us_(other.ended_by_us_),
      wait_status_(other.wait_status_),
      error_pipe_(std::move(other.error_pipe_)),
      last_output_(std::move(other.last_output_)) {}

ChildProcess::~ChildProcess() { end(); }

void ChildProcess::wait_for_end(Duration grace) const { (void)ends_within(pid_, grace); }

void ChildProcess::end() {
  if (pid_ <= 0 || reaped_) return;
  ended_by_us_ = !ends_within(pid_, Duration(0));
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
}

std::string ChildProcess::epitaph() const {
  if (!reaped_) return "is running";
  if (ended_by_us_) return "was ended";
  if (WIFEXITED(wait_status_)) return fmt::format("ended with exit code {}", WEXITSTATUS(wait_status_));
  const int signal = WTERMSIG(wait_status_);
  const char* hint = signal == SIGKILL ? ", which the system does when memory runs out" : "";
  return fmt::format("was killed by signal {} ({}{})", signal, ::strsignal(signal), hint);
}

bool ChildProcess::drain_error_output() {
  char buffer[4096];
  while (true) {
    const ssize_t got = ::read(error_pipe_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    const std::string_view output(buffer, static_cast<std::size_t>(got));
    log_debug("trainer {}: {}", pid_, output);
    last_output_.append(output);
    if (last_output_.size() > kLastOutputMax) last_output_.erase(0, last_output_.size() - kLastOutputMax);
  }
}

ChildProcess::Activity ChildProcess::activity() const {
  Activity activity;
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid_, &clock) == 0 && ::clock_gettime(clock, &used) == 0) {
    activity.processor_time = std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }
  std::error_code problem;
  for (std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", pid_), problem), end;
       !problem && tasks != end; tasks.increment(problem)) {
    std::ifstream file(tasks->path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");  // "<id> (<name>) <state> …"
    activity.runnable |= name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] == 'R';
  }
  return activity;
}

}  // namespace starling::trainer_link
