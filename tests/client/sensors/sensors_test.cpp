#include "client/sensors/sensors.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::sensors;
using starling::testing::TempDir;

namespace {

constexpr const char* kNowhere = "unix:path=/nonexistent/bus";

SensorOptions of_a_bare_machine(const TempDir& root) {
  SensorOptions options;
  options.root = root.path();
  options.data_dir = root.path();
  options.display = ":64999";  // no server is there
  options.system_bus = options.session_bus = kNowhere;
  return options;
}

}  // namespace

TEST_CASE("what nothing tells is unknown, not guessed") {
  const TempDir root;
  Sensors sensors(of_a_bare_machine(root));
  const policy::Surroundings seen = sensors.look(TimePoint() + std::chrono::hours(1), {true, true});
  CHECK_FALSE(seen.user_idle.has_value());
  CHECK_FALSE(seen.on_battery.has_value());
  CHECK_FALSE(seen.metered.has_value());
  CHECK_FALSE(seen.fullscreen.has_value());
  CHECK_FALSE(seen.temperature_c.has_value());
  CHECK_FALSE(seen.programs.has_value());
  CHECK(seen.disk_used_bytes == 0);
  CHECK(seen.processor_threads >= 1);
}

TEST_CASE("battery is looked at every time, costly things every five seconds or when they begin to matter") {
  const TempDir root;
  std::filesystem::create_directories(root / "sys/class/power_supply/BAT0");
  std::ofstream(root / "sys/class/power_supply/BAT0/type") << "Battery\n";
  std::ofstream(root / "sys/class/power_supply/BAT0/status") << "Full\n";
  std::filesystem::create_directories(root / "sys/class/thermal/thermal_zone0");
  const auto heat = [&](const char* text) { std::ofstream(root / "sys/class/thermal/thermal_zone0/temp") << text; };
  heat("50000\n");
  Sensors sensors(of_a_bare_machine(root));
  TimePoint now = TimePoint() + std::chrono::hours(1);
  CHECK(sensors.look(now, {}).on_battery == false);
  std::ofstream(root / "sys/class/power_supply/BAT0/status") << "Discharging\n";
  now += std::chrono::seconds(1);
  CHECK(sensors.look(now, {}).on_battery == true);
  CHECK_FALSE(sensors.look(now, {}).temperature_c.has_value());
  CHECK(sensors.look(now, {.programs = false, .temperature = true}).temperature_c == 50.0);
  heat("60000\n");
  now += std::chrono::seconds(4);
  CHECK(sensors.look(now, {.programs = false, .temperature = true}).temperature_c == 50.0);
  now += std::chrono::seconds(1);
  CHECK(sensors.look(now, {.programs = false, .temperature = true}).temperature_c == 60.0);
}
