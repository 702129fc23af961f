// The values of gentle, balanced and dedicated.
#include <fmt/core.h>

#include <array>

#include "shared/control/preferences.h"

namespace starling::wire {
namespace {

struct Preset {
  std::string_view name;
  Preferences values;
};

std::array<Preset, 3> presets() {
  Preferences balanced;
  balanced.threads_in_use_percent = 75;
  balanced.threads_idle_percent = 100;
  balanced.memory_in_use_percent = 40;
  balanced.memory_idle_percent = 70;
  balanced.gpu_memory_percent = 75;
  Preferences dedicated = balanced;
  dedicated.gpu_while_in_use = true;
  dedicated.on_battery = true;
  dedicated.battery_min_percent = 20;
  dedicated.during_fullscreen = true;
  dedicated.threads_in_use_percent = 100;
  dedicated.memory_in_use_percent = 75;
  dedicated.memory_idle_percent = 90;
  dedicated.gpu_memory_percent = 90;
  return {Preset{"gentle", {}}, Preset{"balanced", balanced}, Preset{"dedicated", dedicated}};
}

// Keeps the settings that belong to the volunteer rather than to a preset.
Preferences with_preset(const Preferences& own, Preferences preset) {
  preset.compute = own.compute;
  preset.gpu = own.gpu;
  preset.network = own.network;
  preset.exclusive_programs = own.exclusive_programs;
  preset.compute_schedule_on = own.compute_schedule_on;
  preset.compute_schedule = own.compute_schedule;
  preset.network_schedule_on = own.network_schedule_on;
  preset.network_schedule = own.network_schedule;
  preset.threads_max = own.threads_max;
  preset.temperature_max_c = own.temperature_max_c;
  preset.disk_max_gb = own.disk_max_gb;
  preset.disk_free_min_gb = own.disk_free_min_gb;
  preset.upload_max_mbit_s = own.upload_max_mbit_s;
  preset.download_max_mbit_s = own.download_max_mbit_s;
  preset.data_max_gb_per_month = own.data_max_gb_per_month;
  preset.data_month_first_day = own.data_month_first_day;
  preset.port_mapping = own.port_mapping;
  preset.update_check = own.update_check;
  preset.update_install = own.update_install;
  preset.relay_max_mbit_s = own.relay_max_mbit_s;
  return preset;
}

}  // namespace

Status apply_preset(Preferences& preferences, std::string_view preset) {
  for (const Preset& known : presets()) {
    if (known.name != preset) continue;
    preferences = with_preset(preferences, known.values);
    return {};
  }
  return Error{ErrorCode::not_found,
               fmt::format("there is no preset '{}'; there are gentle, balanced and dedicated", preset)};
}

std::string_view preset_of(const Preferences& preferences) {
  for (const Preset& known : presets()) {
    if (with_preset(preferences, known.values) == preferences) return known.name;
  }
  return "custom";
}

}  // namespace starling::wire
