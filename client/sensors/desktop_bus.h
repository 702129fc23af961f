// What the desktop tells over D-Bus: how long nobody touched the computer, whether the network is paid by volume,
// whether a game runs. Buses may be missing, and come and go; every question has a short limit.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "shared/base/clock.h"

namespace starling::sensors {

class DesktopBus {
 public:
  // Addresses as in D-Bus' own environment variables; empty: the system's and the session's usual ones.
  struct Options {
    std::string system_address;
    std::string session_address;
  };
  explicit DesktopBus(Options options);
  ~DesktopBus();

  // The compositor's word, which knows every input (GNOME).
  std::optional<Duration> compositor_idle(TimePoint now);
  // logind's: the desktop tells it after minutes only, or the terminal's last use; nobody logged in counts as idle.
  std::optional<Duration> login_idle(TimePoint now);
  // NetworkManager's, or its guess.
  std::optional<bool> metered(TimePoint now);
  // GameMode's: a game asked for it. Nothing where it does not run.
  std::optional<bool> game_running(TimePoint now);

 private:
  class Bus;
  std::unique_ptr<Bus> system_;
  std::unique_ptr<Bus> session_;
};

}  // namespace starling::sensors
