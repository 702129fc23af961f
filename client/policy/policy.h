// Whether this computer may compute now, and with how much of itself. If not, there is one reason, with the event that
// ends it and the action that the volunteer can take. Pure: the sensors' readings, the volunteer's requests and the
// time come in as values.
//
// Reasons in order of priority: the volunteer's request, modes set to "never", limits (disk, heat, data), then the
// rules of "when". Mode "always" leaves out the last group and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/policy/calendar.h"
#include "shared/base/clock.h"
#include "shared/control/pause_request.h"
#include "shared/control/preferences.h"

namespace starling::policy {

// The sensors' readings. Empty: the sensor cannot tell; this is shown, and rules that need it do not apply. One
// exception: a computer that must be left alone while in use counts as in use.
struct Surroundings {
  std::optional<Duration> user_idle;  // time since the last input
  std::optional<bool> on_battery;
  std::optional<int> battery_percent;
  std::optional<bool> metered;
  std::optional<bool> fullscreen;
  std::optional<std::vector<std::string>> programs;  // names of running programs
  std::optional<double> temperature_c;               // temperature of the hottest part
  std::optional<std::int64_t> disk_free_bytes;       // free space on the disk of our files
  std::optional<std::int64_t> disk_used_bytes;       // space that our files take
  int processor_threads = 1;
  std::int64_t memory_bytes = 0;  // installed memory; 0: unknown, and no limit of memory applies
  bool has_gpu = false;

  friend bool operator==(const Surroundings&, const Surroundings&) = default;
};

// to_string() gives each a stable name, which programs and the window's texts go by.
enum class Reason : std::uint8_t {
  none,  // training is allowed
  paused,
  snoozed,
  compute_off,
  network_off,
  disk_low,
  disk_cap,
  too_hot,
  data_cap,
  exclusive_program,
  fullscreen,
  battery,
  battery_low,
  compute_hours,
  in_use,
  idle_unknown,
  metered,
  network_hours,
};
constexpr int kReasons = 18;
// A stable name for programs: "battery_low".
std::string_view to_string(Reason reason);

// In order of growing freedom.
enum class NetworkUse : std::uint8_t { none, coordinator, all };

// The one thing that the volunteer can do to end the reason, as a button's text and as a command.
struct Action {
  std::string label;    // "train on battery too"
  std::string command;  // arguments of `starling` that take the action; empty: there is no command
};

// The rules' answer for this moment, binding for the daemon until the next one.
struct Verdict {
  Reason reason = Reason::none;
  std::string text;                 // the reason for people, fits behind "Paused: "; empty if training is allowed
  std::string ends_when;            // fits behind "until "
  std::optional<WallTime> ends_at;  // if the moment is known
  // If training is allowed: the moment from which the schedule's hours do not allow it any more, within nine days.
  std::optional<WallTime> stops_at{};
  Action action;
  NetworkUse network = NetworkUse::all;
  bool pause_after_round = false;
  bool gpu = true;
  std::string gpu_text;           // reason why the graphics card is not used
  int threads = 1;                // threads of the trainer
  std::int64_t memory_bytes = 0;  // memory of the trainer; 0: no limit
  // Readings that no sensor gives although a rule of these preferences needs them: "idle time".
  std::vector<std::string> unknown;

  [[nodiscard]] bool may_train() const { return reason == Reason::none; }
};

// All inputs of a decision. It borrows them for the length of the call.
struct Situation {
  const wire::Preferences& preferences;
  const Surroundings& surroundings;
  const wire::PauseRequest& pause_request;
  WallTime now;
  const UtcOffset& offset;
  std::int64_t month_bytes = 0;  // bytes sent and received in this month of the data cap
  Reason before = Reason::none;  // reason of the previous verdict; a computer that was too hot must cool down first
  WallTime month_begin = {};     // month of these bytes; zero: the one around `now`
};

Verdict decide(const Situation& situation);

// Bytes at the month's end if it continues at its present rate; empty on its first day.
std::optional<std::int64_t> forecast_month_bytes(std::int64_t bytes_so_far, const Month& month, WallTime now);

}  // namespace starling::policy
