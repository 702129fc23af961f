#include "client/sensors/sensors.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "client/sensors/desktop_bus.h"
#include "client/sensors/machine_files.h"
#include "client/sensors/x11_screen.h"
#include "shared/base/machine_limits.h"

namespace starling::sensors {
namespace {

constexpr Duration kSlowEvery = std::chrono::seconds(5);
constexpr Duration kDiskUsedEvery = std::chrono::seconds(60);

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

struct Sensors::Impl {
  explicit Impl(SensorOptions given)
      : options(std::move(given)),
        bus({options.system_bus, options.session_bus}),
        screen(options.display.empty() ? environment("DISPLAY") : options.display),
        // On Wayland an X server sees the input of X programs only.
        x11_sees_all_input(!options.display.empty() || environment("WAYLAND_DISPLAY").empty()) {}

  std::optional<Duration> idle(TimePoint now) {
    if (const auto compositor = bus.compositor_idle(now)) return compositor;
    if (x11_sees_all_input) {
      if (const auto x11 = screen.idle(now)) return x11;
    }
    return bus.login_idle(now);
  }

  std::optional<bool> fullscreen(TimePoint now) {
    if (bus.game_running(now) == true) return true;
    return screen.fullscreen(now);
  }

  void look_at_slow(TimePoint now, const Needs& needs) {
    seen.metered = bus.metered(now);
    seen.temperature_c = needs.temperature ? read_temperature(options.root) : std::nullopt;
    seen.programs = needs.programs ? read_programs(options.root) : std::nullopt;
    seen.disk_free_bytes = disk_free_bytes(options.data_dir);
    seen.processor_threads = processors_allowed(options.root);
    seen.memory_bytes = memory_allowed_bytes(options.root);
    seen.has_gpu = has_gpu(options.root);
  }

  SensorOptions options;
  DesktopBus bus;
  X11Screen screen;
  bool x11_sees_all_input;
  policy::Surroundings seen;
  Needs seen_for;
  TimePoint slow_due{};
  TimePoint disk_used_due{};
};

Sensors::Sensors(SensorOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Sensors::~Sensors() = default;

policy::Surroundings Sensors::look(TimePoint now, const Needs& needs) {
  policy::Surroundings& seen = impl_->seen;
  const bool asks_more =
      (needs.programs && !impl_->seen_for.programs) || (needs.temperature && !impl_->seen_for.temperature);
  if (asks_more || now >= impl_->slow_due) {
    impl_->slow_due = now + kSlowEvery;
    impl_->seen_for = needs;
    impl_->look_at_slow(now, needs);
  }
  if (now >= impl_->disk_used_due) {
    impl_->disk_used_due = now + kDiskUsedEvery;
    seen.disk_used_bytes = disk_used_bytes(impl_->options.data_dir);
  }
  const Power power = read_power(impl_->options.root);
  seen.on_battery = power.on_battery;
  seen.battery_percent = power.percent;
  seen.user_idle = impl_->idle(now);
  seen.fullscreen = impl_->fullscreen(now);
  return seen;
}

}  // namespace starling::sensors
