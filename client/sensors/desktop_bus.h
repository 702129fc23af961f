// Readings of the desktop over D-Bus: the time since the last input, whether the network is paid by volume, whether a
// game runs. Buses may be missing, and come and go; every call has a short time limit.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "shared/base/clock.h"

namespace starling::sensors {

class DesktopBus {
 public:
  // Addresses in the form of D-Bus' own environment variables; empty: the usual system and session buses.
  struct Options {
    std::string system_address;
    std::string session_address;
  };
  explicit DesktopBus(Options options);
  ~DesktopBus();

  // The compositor's time since the last input of any kind (GNOME).
  std::optional<Duration> compositor_idle(TimePoint now);
  // logind's time: since the desktop reported idleness, minutes late, or since the terminal's last use. A computer with
  // nobody logged in counts as idle.
  std::optional<Duration> login_idle(TimePoint now);
  // NetworkManager's setting, or its guess.
  std::optional<bool> metered(TimePoint now);
  // Whether GameMode is active because a game asked for it. Empty if GameMode does not run.
  std::optional<bool> game_running(TimePoint now);

 private:
  class Bus;
  std::unique_ptr<Bus> system_;
  std::unique_ptr<Bus> session_;
};

}  // namespace starling::sensors
