// Readings of an X server: the time since the last input, and whether the active window fills the screen.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "shared/base/clock.h"

namespace starling::sensors {

class X11Screen {
 public:
  // `display` as in $DISPLAY; empty: there is none.
  explicit X11Screen(std::string display);
  ~X11Screen();

  std::optional<Duration> idle(TimePoint now);
  std::optional<bool> fullscreen(TimePoint now);

 private:
  struct Connection;
  Connection* connection(TimePoint now);

  std::string display_;
  std::unique_ptr<Connection> connection_;
  TimePoint not_before_{};
};

}  // namespace starling::sensors
