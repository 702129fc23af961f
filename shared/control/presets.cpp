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
  balanced.limits.threads_in_use_percent = 75;
  balanced.limits.threads_idle_percent = 100;
  balanced.limits.memory_in_use_percent = 40;
  balanced.limits.memory_idle_percent = 70;
  balanced.limits.gpu_memory_percent = 75;
  Preferences dedicated = balanced;
  dedicated.when.gpu_while_in_use = true;
  dedicated.when.on_battery = true;
  dedicated.when.battery_min_percent = 20;
  dedicated.when.during_fullscreen = true;
  dedicated.limits.threads_in_use_percent = 100;
  dedicated.limits.memory_in_use_percent = 75;
  dedicated.limits.memory_idle_percent = 90;
  dedicated.limits.gpu_memory_percent = 90;
  return {Preset{"gentle", {}}, Preset{"balanced", balanced}, Preset{"dedicated", dedicated}};
}

// Keeps the settings that belong to the volunteer rather than to a preset.
Preferences with_preset(const Preferences& own, Preferences preset) {
  preset.compute = own.compute;
  preset.gpu = own.gpu;
  preset.network = own.network;
  preset.when.exclusive_programs = own.when.exclusive_programs;
  preset.hours = own.hours;
  preset.limits.threads_max = own.limits.threads_max;
  preset.limits.cells_max_gb = own.limits.cells_max_gb;
  preset.limits.temperature_max_c = own.limits.temperature_max_c;
  preset.storage = own.storage;
  preset.traffic = own.traffic;
  preset.updates = own.updates;
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
