#include "client/sensors/desktop_bus.h"

#include <systemd/sd-bus.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <utility>

#include "shared/base/free_with.h"

namespace starling::sensors {
namespace {

constexpr std::uint64_t kCallTimeoutUs = 200'000;
constexpr Duration kReconnectEvery = std::chrono::seconds(30);
// NetworkManager's NMMetered: 1 yes, 2 no, 3 guessed yes, 4 guessed no, 0 unknown.
constexpr std::uint32_t kMeteredYes = 1;
constexpr std::uint32_t kMeteredGuessNo = 4;

struct Where {
  const char* service;
  const char* path;
  const char* interface;
};
constexpr Where kMutter = {"org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core",
                           "org.gnome.Mutter.IdleMonitor"};
constexpr Where kLogin = {"org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"};
constexpr Where kNetwork = {"org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
                            "org.freedesktop.NetworkManager"};
constexpr Where kGameMode = {"com.feralinteractive.GameMode", "/com/feralinteractive/GameMode",
                             "com.feralinteractive.GameMode"};

using Message = std::unique_ptr<sd_bus_message, FreeWith<sd_bus_message_unref>>;

std::uint64_t monotonic_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

class DesktopBus::Bus {
 public:
  using Open = int (*)(sd_bus**);
  Bus(Open open, std::string address) : open_(open), address_(std::move(address)) {}
  ~Bus() { sd_bus_close_unref(bus_); }
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // One property's value of a basic type.
  template <typename T>
  std::optional<T> property(TimePoint now, const Where& where, const char* name, char type) {
    const Message reply = call(now, where, "org.freedesktop.DBus.Properties", "Get", name);
    const char contents[] = {type, '\0'};
    if (!reply || sd_bus_message_enter_container(reply.get(), 'v', contents) < 0) return std::nullopt;
    return basic<T>(reply, type);
  }
  // One value of a basic type that a method without arguments returns.
  template <typename T>
  std::optional<T> method(TimePoint now, const Where& where, const char* name, char type) {
    const Message reply = call(now, where, where.interface, name, nullptr);
    if (!reply) return std::nullopt;
    return basic<T>(reply, type);
  }

 private:
  template <typename T>
  static std::optional<T> basic(const Message& reply, char type) {
    T value{};
    if (sd_bus_message_read_basic(reply.get(), type, &value) < 0) return std::nullopt;
    return value;
  }

  // Never starts a service: one that does not run has nothing to tell.
  Message call(TimePoint now, const Where& where, const char* interface, const char* member, const char* property) {
    if (!connected(now)) return nullptr;
    sd_bus_message* made = nullptr;
    if (sd_bus_message_new_method_call(bus_, &made, where.service, where.path, interface, member) < 0) return nullptr;
    const Message request(made);
    sd_bus_message_set_auto_start(made, 0);
    if (property != nullptr && sd_bus_message_append(made, "ss", where.interface, property) < 0) return nullptr;
    sd_bus_message* answer = nullptr;
    const int result = sd_bus_call(bus_, made, kCallTimeoutUs, nullptr, &answer);
    if (result >= 0) return Message(answer);
    if (sd_bus_is_open(bus_) <= 0) {  // the bus is gone, not only the service
      sd_bus_close_unref(bus_);
      bus_ = nullptr;
    }
    return nullptr;
  }

  bool connected(TimePoint now) {
    if (bus_ != nullptr) return true;
    if (now < not_before_) return false;
    not_before_ = now + kReconnectEvery;
    const int opened = address_.empty() ? open_(&bus_) : open_address();
    if (opened < 0) bus_ = nullptr;
    return bus_ != nullptr;
  }

  int open_address() {
    if (const int made = sd_bus_new(&bus_); made < 0) return made;
    int result = sd_bus_set_address(bus_, address_.c_str());
    if (result >= 0) result = sd_bus_set_bus_client(bus_, 1);
    if (result >= 0) result = sd_bus_start(bus_);
    if (result < 0) sd_bus_unref(bus_);
    return result;
  }

  Open open_;
  std::string address_;
  sd_bus* bus_ = nullptr;
  TimePoint not_before_{};
};

DesktopBus::DesktopBus(Options options)
    : system_(std::make_unique<Bus>(sd_bus_open_system, std::move(options.system_address))),
      session_(std::make_unique<Bus>(sd_bus_open_user, std::move(options.session_address))) {}

DesktopBus::~DesktopBus() = default;

std::optional<Duration> DesktopBus::compositor_idle(TimePoint now) {
  const auto ms = session_->method<std::uint64_t>(now, kMutter, "GetIdletime", 't');
  if (!ms) return std::nullopt;
  return std::chrono::milliseconds(*ms);
}

std::optional<Duration> DesktopBus::login_idle(TimePoint now) {
  const auto idle = system_->property<int>(now, kLogin, "IdleHint", 'b');
  if (!idle) return std::nullopt;
  if (*idle == 0) return Duration(0);
  const auto since_us = system_->property<std::uint64_t>(now, kLogin, "IdleSinceHintMonotonic", 't');
  const std::uint64_t now_us = monotonic_us();
  if (!since_us || *since_us > now_us) return Duration(0);
  return std::chrono::microseconds(now_us - *since_us);
}

std::optional<bool> DesktopBus::metered(TimePoint now) {
  const auto kind = system_->property<std::uint32_t>(now, kNetwork, "Metered", 'u');
  if (!kind || *kind < kMeteredYes || *kind > kMeteredGuessNo) return std::nullopt;
  return *kind % 2 == 1;
}

std::optional<bool> DesktopBus::game_running(TimePoint now) {
  const auto games = session_->property<std::int32_t>(now, kGameMode, "ClientCount", 'i');
  if (!games) return std::nullopt;
  return *games > 0;
}

}  // namespace starling::sensors
