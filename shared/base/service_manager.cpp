#include "shared/base/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

namespace starling {
namespace {

std::string take_from_environment(const char* name) {
  const char* value = std::getenv(name);
  std::string taken = value != nullptr ? value : "";
  ::unsetenv(name);
  return taken;
}

// A path, or '@' and a name in the abstract space.
int connect_to(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

// Half of the time after which the service manager takes the program for dead.
Duration pace_of(const std::string& watchdog_us) {
  std::int64_t us = 0;
  std::from_chars(watchdog_us.data(), watchdog_us.data() + watchdog_us.size(), us);
  return std::chrono::microseconds(us / 2);
}

}  // namespace

ServiceManager::ServiceManager()
    : notify_socket_(take_from_environment("NOTIFY_SOCKET")),
      watchdog_us_(take_from_environment("WATCHDOG_USEC")),
      socket_(connect_to(notify_socket_)),
      every_(pace_of(watchdog_us_)) {
  const std::string watched = take_from_environment("WATCHDOG_PID");
  if (!watched.empty() && watched != std::to_string(::getpid())) every_ = {};
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

void ServiceManager::leave_to_successor() const {
  if (socket_ < 0) return;
  ::setenv("NOTIFY_SOCKET", notify_socket_.c_str(), 1);
  if (every_ > Duration::zero()) ::setenv("WATCHDOG_USEC", watchdog_us_.c_str(), 1);
}

void ServiceManager::alive(TimePoint now) {
  if (every_ <= Duration::zero() || now - told_ < every_) return;
  told_ = now;
  tell("WATCHDOG=1");
}

void ServiceManager::tell(std::string_view state) const {
  if (socket_ >= 0) (void)::send(socket_, state.data(), state.size(), MSG_NOSIGNAL);
}

}  // namespace starling
