#include "client/sensors/machine_files.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/temp_dir.h"

using namespace starling::sensors;
using starling::testing::TempDir;

namespace {

void put(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

void add_battery(const TempDir& root, const std::string& name, const char* status, const char* capacity) {
  const auto folder = root / "sys/class/power_supply" / name;
  put(folder / "type", "Battery\n");
  put(folder / "status", status);
  put(folder / "capacity", capacity);
}

void add_mains(const TempDir& root, const char* online) {
  put(root / "sys/class/power_supply/AC/type", "Mains\n");
  put(root / "sys/class/power_supply/AC/online", online);
}

}  // namespace

TEST_CASE("a laptop is on battery while it discharges and nothing feeds it") {
  const TempDir root;
  add_battery(root, "BAT0", "Discharging\n", "73\n");
  CHECK(read_power(root.path()).on_battery == true);
  CHECK(read_power(root.path()).percent == 73);
  add_battery(root, "BAT1", "Full\n", "41\n");
  CHECK(read_power(root.path()).on_battery == true);
  CHECK(read_power(root.path()).percent == 41);
  add_mains(root, "1\n");
  CHECK(read_power(root.path()).on_battery == false);
  add_mains(root, "0\n");
  CHECK(read_power(root.path()).on_battery == true);
}

TEST_CASE("a desktop with an old mouse is not on battery") {
  const TempDir root;
  add_battery(root, "hidpp_battery_0", "Discharging\n", "5\n");
  put(root / "sys/class/power_supply/hidpp_battery_0/scope", "Device\n");
  CHECK(read_power(root.path()).on_battery == false);
  CHECK_FALSE(read_power(root.path()).percent.has_value());
}

TEST_CASE("a kernel that shows no power supplies cannot tell") {
  const TempDir root;
  CHECK_FALSE(read_power(root.path()).on_battery.has_value());
}

TEST_CASE("the hottest of what computes counts, and broken or foreign sensors do not") {
  const TempDir root;
  CHECK_FALSE(read_temperature(root.path()).has_value());
  put(root / "sys/class/thermal/thermal_zone0/temp", "61500\n");
  put(root / "sys/class/thermal/thermal_zone1/temp", "-273200\n");
  put(root / "sys/class/thermal/cooling_device0/temp", "99000\n");
  put(root / "sys/class/hwmon/hwmon0/name", "k10temp\n");
  put(root / "sys/class/hwmon/hwmon0/temp1_input", "70250\n");
  put(root / "sys/class/hwmon/hwmon0/temp1_max", "95000\n");
  put(root / "sys/class/hwmon/hwmon1/name", "nvme\n");
  put(root / "sys/class/hwmon/hwmon1/temp1_input", "84000\n");
  CHECK(read_temperature(root.path()) == doctest::Approx(70.25));
}

TEST_CASE("programs are known by the kernel's name and by that of their file") {
  const TempDir root;
  put(root / "proc/12/comm", "a-program-with-\n");
  put(root / "proc/12/cmdline", std::string_view("/usr/games/a-program-with-a-long-name\0--full\0", 45));
  put(root / "proc/13/comm", "kworker/0:1\n");
  put(root / "proc/13/cmdline", "");
  put(root / "proc/14/comm", "Cyberpunk2077.e\n");
  put(root / "proc/14/cmdline", std::string_view("Z:\\games\\Cyberpunk2077.exe\0-skip\0", 33));
  const auto programs = read_programs(root.path());
  REQUIRE(programs.has_value());
  CHECK(*programs == std::vector<std::string>{"Cyberpunk2077.e", "Cyberpunk2077.exe", "a-program-with-",
                                              "a-program-with-a-long-name", "kworker/0:1"});
  CHECK_FALSE(has_gpu(root.path()));
}

TEST_CASE("a card is seen by its driver's file, whatever its number, or on the bus where it has no driver") {
  const auto sees = [](const std::vector<std::pair<std::string, std::string>>& files) {
    const TempDir root;
    for (const auto& [file, text] : files) put(root / file, text + "\n");
    return has_gpu(root.path());
  };
  CHECK(sees({{"dev/nvidia0", ""}}));
  CHECK(sees({{"dev/nvidia12", ""}}));
  CHECK(sees({{"dev/kfd", ""}}));
  CHECK_FALSE(sees({{"dev/nvidiactl", ""}, {"dev/nvidia", ""}}));
  const std::string device = "sys/bus/pci/devices/0000:01:00.0/";
  CHECK(sees({{device + "vendor", "0x10de"}, {device + "class", "0x030200"}}));
  CHECK_FALSE(sees({{device + "vendor", "0x10de"}, {device + "class", "0x040300"}}));  // its sound
  CHECK_FALSE(sees({{device + "vendor", "0x8086"}, {device + "class", "0x030000"}}));
}

TEST_CASE("this very program is among those that run") {
  const auto programs = read_programs("/");
  REQUIRE(programs.has_value());
  CHECK(std::find(programs->begin(), programs->end(), "client_sensors_test") != programs->end());
}

TEST_CASE("the disk is measured below a folder, links not followed") {
  const TempDir folder;
  CHECK(disk_used_bytes(folder.path()) == 0);
  put(folder / "a/b/file", std::string(1000, 'x'));
  put(folder / "other", "12345");
  REQUIRE(::symlink("/usr", (folder / "link").c_str()) == 0);
  CHECK(disk_used_bytes(folder.path()) == 1005);
  CHECK(disk_free_bytes(folder.path()).value_or(0) > 0);
  CHECK_FALSE(disk_free_bytes(folder / "nowhere").has_value());
}
