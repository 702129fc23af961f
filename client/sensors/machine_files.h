// Readings from the kernel's files: battery, temperature, running programs and disk. `root` is "/" except in
// tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace starling::sensors {

struct Power {
  std::optional<bool> on_battery;
  std::optional<int> percent;  // charge of the emptiest battery
};
// A computer without a battery is not on battery; one without /sys/class/power_supply cannot tell.
Power read_power(const std::filesystem::path& root);

// Temperature of the hottest processor, graphics card or thermal zone, in degrees Celsius.
std::optional<double> read_temperature(const std::filesystem::path& root);

// Names of all running programs, each once.
std::optional<std::vector<std::string>> read_programs(const std::filesystem::path& root);

bool has_gpu(const std::filesystem::path& root);

std::optional<std::int64_t> disk_free_bytes(const std::filesystem::path& folder);
// Total of all files below `folder`, as far as they can be read.
std::int64_t disk_used_bytes(const std::filesystem::path& folder);

}  // namespace starling::sensors
