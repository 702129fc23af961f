#include "shared/base/service_manager.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/support/temp_dir.h"

namespace {

using namespace starling;

// The part of systemd that a service sees: a datagram socket, and two variables in its environment.
class Listener {
 public:
  Listener() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (dir_ / "notify").string();
    std::memcpy(address.sun_path, path.data(), path.size());
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~Listener() {
    ::close(fd_);
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }
  // The next message, or nothing.
  [[nodiscard]] std::string heard() const {
    char word[64];
    const ssize_t size = ::recv(fd_, word, sizeof word, MSG_DONTWAIT);
    return size < 0 ? std::string() : std::string(word, static_cast<std::size_t>(size));
  }

 private:
  testing::TempDir dir_;
  int fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TimePoint at(int seconds) { return TimePoint{} + std::chrono::seconds(seconds); }

TEST_CASE("the service manager hears when the program is ready and when it ends") {
  const Listener listener;
  ServiceManager manager;
  manager.ready();
  manager.ending();
  CHECK(listener.heard() == "READY=1");
  CHECK(listener.heard() == "STOPPING=1");
}

TEST_CASE("the program that takes a program's place is heard and watched as it was") {
  const Listener listener;
  ::setenv("WATCHDOG_USEC", "60000000", 1);
  const ServiceManager first;
  CHECK(::getenv("NOTIFY_SOCKET") == nullptr);
  first.leave_to_successor();
  ServiceManager second;
  second.ready();
  CHECK(listener.heard() == "READY=1");
  second.alive(at(40));
  CHECK(listener.heard() == "WATCHDOG=1");
  CHECK(::getenv("NOTIFY_SOCKET") == nullptr);
}

TEST_CASE("a watched program tells that it lives, half as far apart as it is waited for") {
  const Listener listener;
  ::setenv("WATCHDOG_USEC", "60000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  ServiceManager manager;
  manager.alive(at(1000));
  CHECK(listener.heard() == "WATCHDOG=1");
  manager.alive(at(1029));
  CHECK(listener.heard().empty());
  manager.alive(at(1030));
  CHECK(listener.heard() == "WATCHDOG=1");
}

TEST_CASE("nothing is told when nobody watches, or somebody else is watched") {
  const Listener listener;
  SUBCASE("no watchdog") {}
  SUBCASE("another process") {
    ::setenv("WATCHDOG_USEC", "60000000", 1);
    ::setenv("WATCHDOG_PID", "1", 1);
  }
  ServiceManager manager;
  manager.alive(at(1000));
  CHECK(listener.heard().empty());
}

TEST_CASE("what the service manager said is for this program alone") {
  const Listener listener;
  ::setenv("WATCHDOG_USEC", "60000000", 1);
  const ServiceManager manager;
  CHECK(std::getenv("NOTIFY_SOCKET") == nullptr);
  CHECK(std::getenv("WATCHDOG_USEC") == nullptr);
}

TEST_CASE("without a service manager nothing happens") {
  ServiceManager manager;
  manager.ready();
  manager.alive(at(1000));
}

}  // namespace
