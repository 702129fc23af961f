#include "client/policy/policy.h"

#include <algorithm>
#include <cctype>

#include "client/policy/wording.h"

namespace starling::policy {
namespace {

using wire::PauseKind;
using wire::UseMode;

constexpr double kCoolDownC = 5;
constexpr std::int64_t kGigabyte = 1'000'000'000;
constexpr std::int64_t kForecastAfterMs = 24LL * 3600 * 1000;

bool is_over(WallTime until, WallTime now) { return until.unix_ms != 0 && until <= now; }

bool paused_by_request(const Situation& s) {
  return s.pause_request.kind == PauseKind::now && !is_over(s.pause_request.until, s.now);
}

bool is_idle(const Situation& s) {
  return s.surroundings.user_idle.has_value() &&
         *s.surroundings.user_idle >= std::chrono::minutes(s.preferences.when.idle_minutes);
}

bool outside(bool on, const wire::WeekHours& hours, const Situation& s) {
  return on && !hours[hour_of_week(s.now, s.offset)];
}

bool too_hot(const Situation& s) {
  if (!s.preferences.limits.temperature_max_c || !s.surroundings.temperature_c) return false;
  const double limit = *s.preferences.limits.temperature_max_c;
  return *s.surroundings.temperature_c > (s.before == Reason::too_hot ? limit - kCoolDownC : limit);
}

bool data_used_up(const Situation& s) {
  const auto& cap = s.preferences.traffic.data_max_gb_per_month;
  return cap.has_value() && static_cast<double>(s.month_bytes) >= *cap * kGigabyte;
}

bool on_metered(const Situation& s) {
  return s.preferences.network == UseMode::rules && !s.preferences.when.on_metered && s.surroundings.metered == true;
}

// The end of the hours in which training is allowed; now is within them.
std::optional<WallTime> end_of_hours(const Situation& s) {
  const wire::ScheduledHours& hours = s.preferences.hours;
  std::optional<WallTime> first;
  const auto take = [&](bool on, const wire::WeekHours& of_week) {
    const std::optional<WallTime> end = on ? next_change(of_week, s.now, s.offset) : std::nullopt;
    if (end && (!first || *end < *first)) first = end;
  };
  take(s.preferences.compute == UseMode::rules && hours.compute_schedule_on, hours.compute_schedule);
  take(s.preferences.network == UseMode::rules && hours.network_schedule_on, hours.network_schedule);
  return first;
}

bool outside_network_hours(const Situation& s) {
  return s.preferences.network == UseMode::rules &&
         outside(s.preferences.hours.network_schedule_on, s.preferences.hours.network_schedule, s);
}

Reason request_reason(const Situation& s) {
  if (paused_by_request(s)) return s.pause_request.until.unix_ms == 0 ? Reason::paused : Reason::snoozed;
  if (s.preferences.compute == UseMode::never) return Reason::compute_off;
  if (s.preferences.network == UseMode::never) return Reason::network_off;
  return Reason::none;
}

// These limits hold in every mode.
Reason limit_reason(const Situation& s) {
  const Surroundings& around = s.surroundings;
  if (around.disk_free_bytes && *around.disk_free_bytes < s.preferences.storage.disk_free_min_gb * kGigabyte) {
    return Reason::disk_low;
  }
  if (around.disk_used_bytes && *around.disk_used_bytes > s.preferences.storage.disk_max_gb * kGigabyte) {
    return Reason::disk_cap;
  }
  if (too_hot(s)) return Reason::too_hot;
  return data_used_up(s) ? Reason::data_cap : Reason::none;
}

Reason battery_reason(const Situation& s) {
  if (s.surroundings.on_battery != true) return Reason::none;
  if (!s.preferences.when.on_battery) return Reason::battery;
  const bool low = s.surroundings.battery_percent.value_or(100) < s.preferences.when.battery_min_percent;
  return low ? Reason::battery_low : Reason::none;
}

Reason compute_rule(const Situation& s) {
  if (s.preferences.compute == UseMode::always) return Reason::none;
  if (exclusive_program_running(s)) return Reason::exclusive_program;
  if (!s.preferences.when.during_fullscreen && s.surroundings.fullscreen == true) return Reason::fullscreen;
  if (const Reason battery = battery_reason(s); battery != Reason::none) return battery;
  if (outside(s.preferences.hours.compute_schedule_on, s.preferences.hours.compute_schedule, s))
    return Reason::compute_hours;
  if (s.preferences.when.while_in_use || is_idle(s)) return Reason::none;
  return s.surroundings.user_idle.has_value() ? Reason::in_use : Reason::idle_unknown;
}

Reason network_rule(const Situation& s) {
  if (on_metered(s)) return Reason::metered;
  return outside_network_hours(s) ? Reason::network_hours : Reason::none;
}

Reason first_reason(const Situation& s) {
  for (const auto check : {request_reason, limit_reason, compute_rule, network_rule}) {
    if (const Reason reason = check(s); reason != Reason::none) return reason;
  }
  return Reason::none;
}

// A few kilobytes an hour to the coordinator keep the volunteer's place and credit; only "never" forbids them too.
NetworkUse network_use(const Situation& s) {
  if (s.preferences.network == UseMode::never) return NetworkUse::none;
  if (data_used_up(s) || network_rule(s) != Reason::none) return NetworkUse::coordinator;
  return NetworkUse::all;
}

std::string why_no_gpu(const Situation& s) {
  if (s.pause_request.gpu && !is_over(s.pause_request.gpu_until, s.now)) return gpu_pause_text(s);
  if (s.preferences.gpu == UseMode::never) return "switched off in the preferences";
  if (s.preferences.gpu == UseMode::always || s.preferences.when.gpu_while_in_use || is_idle(s)) return "";
  return s.surroundings.user_idle ? "somebody uses the computer" : "no sensor tells whether somebody uses the computer";
}

// At least one thread: otherwise a reason would have to be shown.
int thread_share(const Situation& s) {
  const int percent =
      is_idle(s) ? s.preferences.limits.threads_idle_percent : s.preferences.limits.threads_in_use_percent;
  const int share = std::max(1, s.surroundings.processor_threads * percent / 100);
  return std::min(share, s.preferences.limits.threads_max.value_or(share));
}

std::vector<std::string> unknown_sensors(const Situation& s) {
  std::vector<std::string> unknown;
  const wire::Preferences& p = s.preferences;
  const Surroundings& around = s.surroundings;
  if (!around.user_idle) unknown.emplace_back("idle time");
  if (!around.on_battery && !p.when.on_battery) unknown.emplace_back("battery");
  if (!around.metered && !p.when.on_metered) unknown.emplace_back("metered network");
  if (!around.fullscreen && !p.when.during_fullscreen) unknown.emplace_back("full screen");
  if (!around.temperature_c && p.limits.temperature_max_c) unknown.emplace_back("temperature");
  if (!around.programs && !p.when.exclusive_programs.empty()) unknown.emplace_back("running programs");
  return unknown;
}

}  // namespace

const std::string* exclusive_program_running(const Situation& s) {
  // The kernel tells the first letters only of a program's name, and for some programs nothing else does.
  constexpr std::size_t kKernelLetters = 15;
  const auto same = [](std::string_view wanted, std::string_view running) {
    if (running.size() == kKernelLetters) wanted = wanted.substr(0, kKernelLetters);
    return std::equal(wanted.begin(), wanted.end(), running.begin(), running.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
  };
  if (!s.surroundings.programs) return nullptr;
  for (const std::string& exclusive : s.preferences.when.exclusive_programs) {
    for (const std::string& running : *s.surroundings.programs) {
      if (same(exclusive, running)) return &exclusive;
    }
  }
  return nullptr;
}

Verdict decide(const Situation& situation) {
  Verdict verdict;
  verdict.reason = first_reason(situation);
  explain(situation, verdict);
  if (verdict.may_train()) verdict.stops_at = end_of_hours(situation);
  verdict.network = network_use(situation);
  verdict.pause_after_round = situation.pause_request.kind == PauseKind::after_round;
  verdict.gpu_text = why_no_gpu(situation);
  verdict.gpu = verdict.gpu_text.empty();
  verdict.threads = thread_share(situation);
  const int memory_percent = is_idle(situation) ? situation.preferences.limits.memory_idle_percent
                                                : situation.preferences.limits.memory_in_use_percent;
  verdict.memory_bytes = situation.surroundings.memory_bytes / 100 * memory_percent;
  verdict.unknown = unknown_sensors(situation);
  return verdict;
}

std::optional<std::int64_t> forecast_month_bytes(std::int64_t bytes_so_far, const Month& month, WallTime now) {
  const std::int64_t elapsed_ms = now.unix_ms - month.begin.unix_ms;
  if (elapsed_ms < kForecastAfterMs || now >= month.end) return std::nullopt;
  const double length = static_cast<double>(month.end.unix_ms - month.begin.unix_ms);
  return static_cast<std::int64_t>(static_cast<double>(bytes_so_far) * length / static_cast<double>(elapsed_ms));
}

}  // namespace starling::policy
