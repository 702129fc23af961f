#include "client/sensors/machine_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

namespace starling::sensors {
namespace {

namespace fs = std::filesystem;

constexpr double kMilli = 1e-3;
constexpr double kColdestC = -20;  // values beyond these two come from a broken sensor
constexpr double kHottestC = 150;
// Other chips are left out: drives and network cards have sensors too, with other limits.
constexpr std::array<std::string_view, 8> kHotChips = {"coretemp", "k10temp", "zenpower",    "amdgpu",
                                                       "nouveau",  "xe",      "cpu_thermal", "acpitz"};

constexpr std::string_view kNvidiaDevice = "nvidia";  // and a number: containers are given any of them
constexpr std::string_view kNvidiaVendor = "0x10de";
constexpr std::string_view kDisplays = "0x03";  // display controllers, in PCI's classes

// The first line, or nothing.
std::optional<std::string> line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<std::int64_t> number_of(const fs::path& path) {
  const auto line = line_of(path);
  std::int64_t number = 0;
  if (!line) return std::nullopt;
  const auto [end, problem] = std::from_chars(line->data(), line->data() + line->size(), number);
  if (problem != std::errc()) return std::nullopt;
  return number;
}

// Calls `visit` with every entry; false when the folder cannot be read.
template <typename Visit>
bool for_each_entry(const fs::path& folder, const Visit& visit) {
  std::error_code problem;
  fs::directory_iterator entries(folder, problem);
  if (problem) return false;
  for (const fs::directory_iterator end; !problem && entries != end; entries.increment(problem)) visit(entries->path());
  return true;
}

void consider_temperature(std::optional<double>& hottest, const fs::path& path) {
  const auto milli = number_of(path);
  if (!milli) return;
  const double celsius = static_cast<double>(*milli) * kMilli;
  if (celsius > kColdestC && celsius < kHottestC) hottest = std::max(hottest.value_or(celsius), celsius);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Power read_power(const fs::path& root) {
  Power power;
  bool plugged_in = false;
  bool discharging = false;
  const bool readable = for_each_entry(root / "sys/class/power_supply", [&](const fs::path& supply) {
    const auto type = line_of(supply / "type");
    if (line_of(supply / "scope") == "Device") return;  // a mouse's or a headset's battery
    if (type == "Battery") {
      discharging |= line_of(supply / "status") == "Discharging";
      const auto percent = number_of(supply / "capacity");
      if (percent) power.percent = std::min(power.percent.value_or(100), static_cast<int>(*percent));
    } else {
      plugged_in |= number_of(supply / "online") == 1;
    }
  });
  // A battery that discharges while plugged in only supports a weak charger.
  if (readable) power.on_battery = discharging && !plugged_in;
  return power;
}

std::optional<double> read_temperature(const fs::path& root) {
  std::optional<double> hottest;
  for_each_entry(root / "sys/class/thermal", [&](const fs::path& zone) {
    if (zone.filename().string().starts_with("thermal_zone")) consider_temperature(hottest, zone / "temp");
  });
  for_each_entry(root / "sys/class/hwmon", [&](const fs::path& chip) {
    const auto name = line_of(chip / "name");
    if (!name || std::find(kHotChips.begin(), kHotChips.end(), *name) == kHotChips.end()) return;
    for_each_entry(chip, [&](const fs::path& sensor) {
      const std::string file = sensor.filename().string();
      if (file.starts_with("temp") && file.ends_with("_input")) consider_temperature(hottest, sensor);
    });
  });
  return hottest;
}

std::optional<std::vector<std::string>> read_programs(const fs::path& root) {
  std::set<std::string> names;
  const bool readable = for_each_entry(root / "proc", [&](const fs::path& process) {
    if (!is_number(process.filename().string())) return;
    // The kernel's name has at most 15 characters; the first argument has the whole name, if it is a path: one of
    // Windows for what Wine runs.
    if (const auto name = line_of(process / "comm")) names.insert(*name);
    std::ifstream file(process / "cmdline");
    std::string program;
    if (!std::getline(file, program, '\0')) return;
    program.erase(0, program.find_last_of("/\\") + 1);  // npos + 1 is 0
    if (!program.empty()) names.insert(program);
  });
  if (!readable || names.empty()) return std::nullopt;
  return std::vector<std::string>(names.begin(), names.end());
}

// A card whose driver is missing has no device file, but stands on the bus.
bool has_gpu(const fs::path& root) {
  std::error_code ignored;
  bool found = fs::exists(root / "dev/kfd", ignored);
  for_each_entry(root / "dev", [&](const fs::path& device) {
    const std::string name = device.filename().string();
    found |= name.starts_with(kNvidiaDevice) && is_number(std::string_view(name).substr(kNvidiaDevice.size()));
  });
  for_each_entry(root / "sys/bus/pci/devices", [&](const fs::path& device) {
    found |=
        line_of(device / "vendor") == kNvidiaVendor && line_of(device / "class").value_or("").starts_with(kDisplays);
  });
  return found;
}

std::optional<std::int64_t> disk_free_bytes(const fs::path& folder) {
  std::error_code problem;
  const fs::space_info space = fs::space(folder, problem);
  if (problem) return std::nullopt;
  return static_cast<std::int64_t>(space.available);
}

std::int64_t disk_used_bytes(const fs::path& folder) {
  std::int64_t bytes = 0;
  std::error_code problem;
  fs::recursive_directory_iterator files(folder, fs::directory_options::skip_permission_denied, problem);
  for (const fs::recursive_directory_iterator end; !problem && files != end; files.increment(problem)) {
    std::error_code gone;
    if (files->is_regular_file(gone) && !files->is_symlink(gone)) {
      const auto size = files->file_size(gone);
      if (!gone) bytes += static_cast<std::int64_t>(size);
    }
  }
  return bytes;
}

}  // namespace starling::sensors
