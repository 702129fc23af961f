#include "tests/client/trainer_link/escape.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "client/trainer_link/child_fds.h"

namespace starling::trainer_link::testing {
namespace {

bool opens(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

bool lists(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return false;
  ::closedir(folder);
  return true;
}

bool looks(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 || ::access(path.c_str(), F_OK) == 0;
}

bool opens_by_openat2(const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY;
  const auto fd = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  if (fd >= 0) ::close(static_cast<int>(fd));
  return fd >= 0;
}

bool executes() {
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  ::execv(program, arguments);
  return false;  // execv has returned
}

bool forks() {
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) ::_exit(0);
  return child > 0;
}

bool starts_a_thread() {
  bool ran = false;
  std::thread([&ran] { ran = true; }).join();
  return ran;
}

bool raises_its_limit() {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  return ::setrlimit(RLIMIT_NOFILE, &unlimited) == 0;
}

bool tells_a_device() {
  int waiting = 0;
  return ::ioctl(kChannelFd, FIONREAD, &waiting) == 0;
}

bool attempt_succeeds(const std::string& verb, const std::string& object) {
  const auto pid = static_cast<pid_t>(std::atol(object.c_str()));
  if (verb == "write") return opens(object, O_WRONLY);
  if (verb == "create") return opens(object, O_WRONLY | O_CREAT);
  if (verb == "read") return opens(object, O_RDONLY);
  if (verb == "list") return lists(object);
  if (verb == "look") return looks(object);
  if (verb == "openat2") return opens_by_openat2(object);
  if (verb == "delete") return ::unlink(object.c_str()) == 0;
  if (verb == "socket") return ::socket(object == "unix" ? AF_UNIX : AF_INET, SOCK_STREAM, 0) >= 0;
  if (verb == "exec") return executes();
  if (verb == "fork") return forks();
  if (verb == "kill") return ::kill(pid, 0) == 0;
  if (verb == "ptrace") return ::ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0;
  if (verb == "unlimit") return raises_its_limit();
  if (verb == "thread") return starts_a_thread();
  if (verb == "ioctl") return tells_a_device();
  errno = EINVAL;
  return false;
}

}  // namespace

std::string try_to(const std::string& attempt) {
  const std::size_t space = attempt.find(' ');
  const std::string verb = attempt.substr(0, space);
  const std::string object = space == std::string::npos ? "" : attempt.substr(space + 1);
  return attempt_succeeds(verb, object) ? "done" : std::strerror(errno);
}

}  // namespace starling::trainer_link::testing
