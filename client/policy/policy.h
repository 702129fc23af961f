// May this computer compute now, with how much of itself, and if not, why not: one reason, what ends it, and what the
// volunteer can do about it. Pure: what sensors saw, what was wished and the time come in as values.
//
// Order, from what binds most: what the volunteer asked for, modes set to "never", limits (disk, heat, data), then the
// rules of "when". Mode "always" leaves out the last group and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/policy/calendar.h"
#include "shared/base/clock.h"
#include "shared/wire/pause_wish.h"
#include "shared/wire/preferences.h"

namespace starling::policy {

// What sensors saw. Nothing: that sensor cannot tell, which is shown, and no rule that needs it applies; only where
// the volunteer wants to be left alone at the computer does "cannot tell" count as "in use".
struct Surroundings {
  std::optional<Duration> user_idle;  // since the last input
  std::optional<bool> on_battery;
  std::optional<int> battery_percent;
  std::optional<bool> metered;
  std::optional<bool> fullscreen;
  std::optional<std::vector<std::string>> programs;  // names of what runs
  std::optional<double> temperature_c;               // of the hottest part
  std::optional<std::int64_t> disk_free_bytes;       // where our files are
  std::optional<std::int64_t> disk_used_bytes;       // by our files
  int processor_threads = 1;
  std::int64_t memory_bytes = 0;  // installed; 0: not known, no limit of memory applies
  bool has_gpu = false;

  friend bool operator==(const Surroundings&, const Surroundings&) = default;
};

enum class Reason : std::uint8_t {
  none,  // it may train
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
// A stable word for programs: "battery_low".
std::string_view to_string(Reason reason);

// In the order of growing freedom.
enum class NetworkUse : std::uint8_t { none, coordinator, all };

struct Action {
  std::string label;    // "train on battery too"
  std::string command;  // what does it, behind `starling`; empty: nothing to type
};

struct Verdict {
  Reason reason = Reason::none;
  std::string text;                 // the reason for people, fits behind "Paused: "; empty while it may train
  std::string ends_when;            // fits behind "until "
  std::optional<WallTime> ends_at;  // when the moment is known
  Action action;
  NetworkUse network = NetworkUse::all;
  bool pause_after_round = false;
  bool gpu = true;
  std::string gpu_text;           // why not
  int threads = 1;                // of the trainer
  std::int64_t memory_bytes = 0;  // of the trainer; 0: no limit
  // What no sensor tells although a rule of these preferences asks for it: "idle time".
  std::vector<std::string> unknown;

  [[nodiscard]] bool may_train() const { return reason == Reason::none; }
};

struct Situation {
  const wire::Preferences& preferences;
  const Surroundings& surroundings;
  const wire::PauseWish& wish;
  WallTime now;
  const UtcOffset& offset;
  std::int64_t month_bytes = 0;  // sent and received in this month of data
  Reason before = Reason::none;  // of the verdict before: what was too hot has to cool down first
};

Verdict decide(const Situation& situation);

// What the month will end at if it goes on as it went; nothing in its first day.
std::optional<std::int64_t> forecast_month_bytes(std::int64_t bytes_so_far, const Month& month, WallTime now);

}  // namespace starling::policy
