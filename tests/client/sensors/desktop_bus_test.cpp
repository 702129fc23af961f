// A real connection to a bus of our own, on which this test plays GNOME, logind, NetworkManager and GameMode.
#include "client/sensors/desktop_bus.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

using namespace starling;
using namespace starling::sensors;

namespace {

// A dbus-daemon that ends with this object.
class PrivateBus {
 public:
  PrivateBus() {
    // The daemon also ends when its parent's end of the pipe is closed: "exec" keeps the printed pid.
    FILE* out = ::popen("dbus-daemon --session --fork --print-address=1 --print-pid=1", "r");
    REQUIRE(out != nullptr);
    std::array<char, 512> line{};
    REQUIRE(std::fgets(line.data(), line.size(), out) != nullptr);
    address_ = line.data();
    address_.pop_back();
    REQUIRE(std::fgets(line.data(), line.size(), out) != nullptr);
    pid_ = std::atoi(line.data());
    ::pclose(out);
  }
  ~PrivateBus() { stop(); }
  PrivateBus(const PrivateBus&) = delete;
  PrivateBus& operator=(const PrivateBus&) = delete;

  void stop() {
    if (pid_ > 0) ::kill(pid_, SIGTERM);
    pid_ = -1;
  }
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  std::string address_;
  pid_t pid_ = -1;
};

struct Answers {
  std::uint64_t idle_ms = 90'000;
  int login_idle = 1;
  std::uint64_t login_idle_since = 1;  // just after the machine started
  std::uint32_t metered = 1;
  std::int32_t games = 0;
};

int answer_idle(sd_bus_message* message, void* answers, sd_bus_error*) {
  return sd_bus_reply_method_return(message, "t", static_cast<Answers*>(answers)->idle_ms);
}

constexpr unsigned char kNoFlags = 0;
const sd_bus_vtable kIdleMonitor[] = {SD_BUS_VTABLE_START(0),
                                      SD_BUS_METHOD("GetIdletime", "", "t", answer_idle, SD_BUS_VTABLE_UNPRIVILEGED),
                                      SD_BUS_VTABLE_END};
const sd_bus_vtable kManager[] = {
    SD_BUS_VTABLE_START(0), SD_BUS_PROPERTY("IdleHint", "b", nullptr, offsetof(Answers, login_idle), kNoFlags),
    SD_BUS_PROPERTY("IdleSinceHintMonotonic", "t", nullptr, offsetof(Answers, login_idle_since), kNoFlags),
    SD_BUS_VTABLE_END};
const sd_bus_vtable kNetworkManager[] = {SD_BUS_VTABLE_START(0),
                                         SD_BUS_PROPERTY("Metered", "u", nullptr, offsetof(Answers, metered), kNoFlags),
                                         SD_BUS_VTABLE_END};
const sd_bus_vtable kGameMode[] = {SD_BUS_VTABLE_START(0),
                                   SD_BUS_PROPERTY("ClientCount", "i", nullptr, offsetof(Answers, games), kNoFlags),
                                   SD_BUS_VTABLE_END};

// Offers the four services and answers on a thread of its own.
class Desktop {
 public:
  Desktop(const std::string& address, Answers answers) : answers_(answers) {
    REQUIRE(sd_bus_new(&bus_) >= 0);
    REQUIRE(sd_bus_set_address(bus_, address.c_str()) >= 0);
    REQUIRE(sd_bus_set_bus_client(bus_, 1) >= 0);
    REQUIRE(sd_bus_start(bus_) >= 0);
    offer("org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core", "org.gnome.Mutter.IdleMonitor",
          kIdleMonitor);
    offer("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", kManager);
    offer("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager",
          kNetworkManager);
    offer("com.feralinteractive.GameMode", "/com/feralinteractive/GameMode", "com.feralinteractive.GameMode",
          kGameMode);
    thread_ = std::thread([this] {
      while (!stopping_) {
        while (sd_bus_process(bus_, nullptr) > 0) {
        }
        sd_bus_wait(bus_, 20'000);
      }
    });
  }
  ~Desktop() {
    stopping_ = true;
    thread_.join();
    sd_bus_flush_close_unref(bus_);
  }
  Desktop(const Desktop&) = delete;
  Desktop& operator=(const Desktop&) = delete;

 private:
  void offer(const char* service, const char* path, const char* interface, const sd_bus_vtable* table) {
    REQUIRE(sd_bus_add_object_vtable(bus_, nullptr, path, interface, table, &answers_) >= 0);
    REQUIRE(sd_bus_request_name(bus_, service, 0) >= 0);
  }

  Answers answers_;
  sd_bus* bus_ = nullptr;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

constexpr TimePoint kNow = TimePoint() + std::chrono::hours(1);

}  // namespace

TEST_CASE("the desktop's answers are understood") {
  const PrivateBus bus;
  const Desktop desktop(bus.address(), {});
  DesktopBus seen({bus.address(), bus.address()});
  CHECK(seen.compositor_idle(kNow) == std::chrono::milliseconds(90'000));
  CHECK(seen.login_idle(kNow).value_or(Duration(0)) > Duration(0));
  CHECK(seen.metered(kNow) == true);
  CHECK(seen.game_running(kNow) == false);
}

TEST_CASE("in use, unmetered by a guess, a game running") {
  const PrivateBus bus;
  const Desktop desktop(bus.address(), {0, 0, 0, 4, 2});
  DesktopBus seen({bus.address(), bus.address()});
  CHECK(seen.login_idle(kNow) == Duration(0));
  CHECK(seen.metered(kNow) == false);
  CHECK(seen.game_running(kNow) == true);
}

TEST_CASE("services that do not run and buses that are gone leave things unknown, and are asked again later") {
  PrivateBus bus;
  DesktopBus seen({bus.address(), bus.address()});
  CHECK_FALSE(seen.compositor_idle(kNow).has_value());
  CHECK_FALSE(seen.metered(kNow).has_value());
  {
    const Desktop desktop(bus.address(), {});
    CHECK(seen.metered(kNow) == true);
  }
  CHECK_FALSE(seen.metered(kNow).has_value());
  bus.stop();
  CHECK_FALSE(seen.metered(kNow).has_value());
  CHECK_FALSE(seen.metered(kNow + std::chrono::minutes(1)).has_value());
}

TEST_CASE("a network whose cost NetworkManager does not know is unknown") {
  const PrivateBus bus;
  const Desktop desktop(bus.address(), {0, 0, 0, 0, 0});
  DesktopBus seen({bus.address(), bus.address()});
  CHECK_FALSE(seen.metered(kNow).has_value());
}
