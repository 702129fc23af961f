// A volunteer's preferences: how Starling may use this computer. One struct for all programs that touch it: the file in
// the data directory, the daemon that obeys, the command line and the window. This computer's file is the only
// authority.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/control/week_hours.h"

namespace starling::wire {

// Whether a resource is used: always, by the rules below, or never.
enum class UseMode : std::uint8_t { always, rules, never };
std::string_view to_string(UseMode mode);

// The conditions under which a resource is used by its rules.
struct WhenRules {
  bool while_in_use = true;
  bool gpu_while_in_use = false;
  int idle_minutes = 3;  // without input: not in use
  bool on_battery = false;
  int battery_min_percent = 50;  // where on_battery allows it
  bool on_metered = false;
  bool during_fullscreen = false;
  std::vector<std::string> exclusive_programs;  // names; while one runs, nothing is computed

  friend bool operator==(const WhenRules&, const WhenRules&) = default;
};

// The hours of the week in which a resource is used by its rules. A schedule that is off keeps its hours for later.
struct ScheduledHours {
  bool compute_schedule_on = false;
  WeekHours compute_schedule = WeekHours().set();
  bool network_schedule_on = false;
  WeekHours network_schedule = WeekHours().set();

  friend bool operator==(const ScheduledHours&, const ScheduledHours&) = default;
};

// The most that training takes of processor, memory and graphics card, and how hot it may make them.
struct ComputeLimits {
  int threads_in_use_percent = 50;  // percent of the processor's threads
  int threads_idle_percent = 90;
  std::optional<int> threads_max;
  int memory_in_use_percent = 25;  // percent of the installed memory
  int memory_idle_percent = 50;
  std::optional<double> cells_max_gb;  // memory for pieces of models that are shared out (shared/run/cells.h)
  int gpu_memory_percent = 50;         // percent of the graphics card's memory
  std::optional<int> temperature_max_c;

  friend bool operator==(const ComputeLimits&, const ComputeLimits&) = default;
};

// The disk space of models and data.
struct StorageLimits {
  int disk_max_gb = 20;
  int disk_free_min_gb = 5;

  friend bool operator==(const StorageLimits&, const StorageLimits&) = default;
};

// How much is sent and received, and how others reach this computer. An upload, download or month without a value is
// unlimited.
struct TrafficRules {
  std::optional<double> upload_max_mbit_s;
  std::optional<double> download_max_mbit_s;
  std::optional<double> data_max_gb_per_month;  // sent and received
  int data_month_first_day = 1;
  bool port_mapping = true;                // let the router open a port, where others cannot dial this computer
  std::optional<double> relay_max_mbit_s;  // relay for members that cannot reach each other; without one: for nobody

  friend bool operator==(const TrafficRules&, const TrafficRules&) = default;
};

// Newer versions of Starling.
struct UpdateRules {
  bool update_check = true;    // look for them
  bool update_install = true;  // and start them between two rounds, where this installation may change itself

  friend bool operator==(const UpdateRules&, const UpdateRules&) = default;
};

// All choices of a volunteer for this computer. The names of the groups' members are their names in the file, in
// messages, on the command line and in preference_infos(): all of them know no groups.
struct Preferences {
  // `always` leaves out `when` and `hours`, never the limits.
  UseMode compute = UseMode::rules;
  UseMode gpu = UseMode::rules;
  UseMode network = UseMode::rules;
  WhenRules when;
  ScheduledHours hours;
  ComputeLimits limits;
  StorageLimits storage;
  TrafficRules traffic;
  UpdateRules updates;

  friend bool operator==(const Preferences&, const Preferences&) = default;
};

constexpr std::size_t kExclusiveProgramsMax = 64;
constexpr std::size_t kProgramNameBytesMax = 64;

std::string encode(const Preferences& preferences);
// Absent fields keep their defaults; fields nobody knows are ignored; invalid_argument names the field.
Result<Preferences> decode_preferences(std::string_view json);

// One setting as text, for the command line and for search in a window.
struct PreferenceInfo {
  std::string_view name;
  std::string_view help;
};
std::vector<PreferenceInfo> preference_infos();
// A numeric setting's range, both ends included, and the unit of its numbers.
enum class PreferenceUnit : std::uint8_t { none, minutes, percent, degrees_celsius, gigabytes, megabits_per_second };
// Limits of a numeric setting, both included.
struct PreferenceRange {
  double min;
  double max;
  PreferenceUnit unit;
};
// Nothing for a name nobody knows, and for a setting that is no number.
std::optional<PreferenceRange> preference_range(std::string_view name);
// not_found, with a list of names, for a name nobody knows.
Result<std::string> preference_text(const Preferences& preferences, std::string_view name);
// invalid_argument says which values are possible.
Status set_preference(Preferences& preferences, std::string_view name, std::string_view value);

// gentle, balanced, dedicated: sets the values that those names promise, and leaves modes, schedules, exclusive
// programs and caps of disk, data and temperature unchanged.
Status apply_preset(Preferences& preferences, std::string_view preset);
// The preset that would change nothing, or "custom".
std::string_view preset_of(const Preferences& preferences);

}  // namespace starling::wire
