#include "client/daemon/governor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "client/trainer_link/messages.h"
#include "shared/base/log.h"

namespace starling::daemon {
namespace {

using policy::Reason;
using wire::PauseKind;

// A crash may lose this much of the count, and no more: bytes that were not saved for kTrafficSavedEvery, or that are
// kUnsavedShare of the cap.
constexpr Duration kTrafficSavedEvery = std::chrono::seconds(60);
constexpr double kUnsavedShare = 0.005;
constexpr double kUnsavedBytesMin = 64e3;
constexpr double kNoCapGb = 10;
constexpr double kSlowestShare = 0.001;  // fraction of a month's cap, in a second and direction
constexpr double kLeftShare = 0.125;     // fraction of the rest of it, in a second and direction
constexpr double kTrickleBytesPerS = 1000;
constexpr double kFastestBytesPerS = 125e6;  // the fastest of the lines that people have
constexpr std::int64_t kHourMs = 3'600'000;
constexpr double kGigabyte = 1e9;

// Read at each call: laptops travel.
std::int64_t system_offset(std::int64_t unix_s) {
  const std::time_t when = unix_s;
  std::tm local{};
  ::tzset();
  ::localtime_r(&when, &local);
  return local.tm_gmtoff;
}

std::int64_t growth(std::int64_t now, std::int64_t before) { return now >= before ? now - before : now; }

}  // namespace

std::string describe_obstacle(const policy::Verdict& verdict) {
  std::string text = fmt::format("{}, until {}", verdict.text, verdict.ends_when);
  if (!verdict.action.command.empty()) {
    text += fmt::format(" ({}: starling {})", verdict.action.label, verdict.action.command);
  }
  return text;
}

Governor::Governor(storage::PreferenceFiles files, const SettledClock& clock, int threads)
    : files_(std::move(files)),
      clock_(clock),
      threads_(threads),
      offset_(system_offset),
      preferences_(files_.preferences()),
      pause_request_(files_.pause_request()),
      traffic_(files_.traffic()) {
  // The round it was to wait for ended with the program.
  if (pause_request_.kind == PauseKind::after_round) pause_request_.kind = PauseKind::now;
  snoozed_here_.jumped_ms = clock_.jumped_ms();
  decide();
}

policy::Month Governor::month_of(WallTime when) const {
  return policy::month_around(when, preferences_.traffic.data_month_first_day, offset_);
}

const policy::Verdict& Governor::decide() {
  const WallTime now = clock_.wall_now();
  move_snoozes();
  traffic_.look(month_of(now).begin,
                coordinators_time_ ? std::optional(month_of(*coordinators_time_).begin) : std::nullopt);
  const Reason before = verdict_.reason;
  const storage::MonthTraffic used = traffic_.used();
  verdict_ =
      policy::decide({preferences_, surroundings_, pause_request_, now, offset_, used.total(), before, used.since});
  verdict_.threads = threads_ > 0 ? threads_ : std::min(verdict_.threads, trainer_link::kThreadsMax);
  if (verdict_.reason != before) {
    log_info("{}", verdict_.may_train() ? "the rules allow training" : "not training: " + describe_obstacle(verdict_));
  }
  return verdict_;
}

void Governor::move_snoozes() {
  const std::int64_t jumped_ms = clock_.jumped_ms();
  const std::int64_t by_ms = jumped_ms - std::exchange(snoozed_here_.jumped_ms, jumped_ms);
  if (by_ms == 0) return;
  if (std::abs(by_ms) >= kHourMs) {
    log_info("the clock of this computer was set, by {:.1f} h",
             static_cast<double>(by_ms) / static_cast<double>(kHourMs));
  }
  wire::PauseRequest moved = pause_request_;
  const auto move = [by_ms](WallTime& until) {
    if (until.unix_ms != 0) until.unix_ms = std::max<std::int64_t>(1, until.unix_ms + by_ms);
  };
  if (snoozed_here_.pause) move(moved.until);
  if (snoozed_here_.gpu) move(moved.gpu_until);
  if (moved == pause_request_) return;
  pause_request_ = moved;
  if (const Status saved = files_.save(pause_request_); !saved.ok()) {
    log_warning("keep the pause: {}", saved.error().message);
  }
}

std::optional<Duration> Governor::stops_in() const {
  if (!verdict_.stops_at) return std::nullopt;
  return std::chrono::milliseconds(std::max<std::int64_t>(0, verdict_.stops_at->unix_ms - clock_.wall_now().unix_ms));
}

bool Governor::may_prepare() const {
  const bool unwanted = verdict_.reason == Reason::paused || verdict_.reason == Reason::snoozed ||
                        verdict_.reason == Reason::compute_off || verdict_.reason == Reason::disk_low ||
                        verdict_.reason == Reason::disk_cap;
  return verdict_.network == policy::NetworkUse::all && !unwanted;
}

std::int64_t Governor::disk_bytes_left() const {
  const auto bytes = [](int gigabytes) { return static_cast<std::int64_t>(gigabytes * kGigabyte); };
  const std::int64_t by_cap = bytes(preferences_.storage.disk_max_gb) - surroundings_.disk_used_bytes.value_or(0);
  if (!surroundings_.disk_free_bytes) return by_cap;
  return std::min(by_cap, *surroundings_.disk_free_bytes - bytes(preferences_.storage.disk_free_min_gb));
}

MemoryHere Governor::memory() const {
  const int percent = std::max(preferences_.limits.memory_idle_percent, preferences_.limits.memory_in_use_percent);
  MemoryHere memory{surroundings_.memory_bytes, surroundings_.memory_bytes / 100 * percent};
  const auto& cells_max_gb = preferences_.limits.cells_max_gb;
  if (cells_max_gb) memory.cells = static_cast<std::int64_t>(*cells_max_gb * 1e9);
  return memory;
}

double Governor::bytes_per_s_below_cap() const {
  if (!preferences_.traffic.data_max_gb_per_month) return 0;
  const double cap = *preferences_.traffic.data_max_gb_per_month * kGigabyte;
  const double left = cap - static_cast<double>(traffic_.used().total());
  // The round under way is over for us: without our part, the others finish it.
  if (left <= 0) return kTrickleBytesPerS;
  // Both directions together take a quarter of the rest in a second, and reach the end of the cap at last. Bytes on
  // their way when the limit falls, those of a third of a second, are few beside the rest then.
  const double in_step = kLeftShare * left;
  return in_step < kFastestBytesPerS ? std::max(in_step, kSlowestShare * cap) : 0;
}

sensors::Needs Governor::needs() const {
  return {!preferences_.when.exclusive_programs.empty(), preferences_.limits.temperature_max_c.has_value()};
}

void Governor::count(const TrafficCounters& since_start) {
  traffic_.add(growth(since_start.averaging, counted_.averaging), growth(since_start.models, counted_.models),
               growth(since_start.coordinator, counted_.coordinator));
  counted_ = since_start;
  const double unsaved = static_cast<double>(traffic_.kept_bytes() - traffic_saved_total_);
  const double cap = preferences_.traffic.data_max_gb_per_month.value_or(kNoCapGb) * kGigabyte;
  const bool much = unsaved > std::max(kUnsavedShare * cap, kUnsavedBytesMin);
  if (much || clock_.now() - traffic_saved_ >= kTrafficSavedEvery) save_traffic();
}

void Governor::save_traffic() {
  traffic_saved_ = clock_.now();
  traffic_saved_total_ = traffic_.kept_bytes();
  if (traffic_saved_total_ == 0) return;
  if (const Status saved = files_.save(traffic_.kept()); !saved.ok()) {
    log_warning("keep the count of this month's data: {}", saved.error().message);
  }
}

void Governor::on_round_finished() {
  if (pause_request_.kind != PauseKind::after_round) return;
  wire::PauseRequest pause_request = pause_request_;
  pause_request.kind = PauseKind::now;
  if (const Status kept = keep_pause_request(pause_request); !kept.ok())
    log_warning("keep the pause: {}", kept.error().message);
}

Status Governor::keep_pause_request(const wire::PauseRequest& pause_request) {
  pause_request_ = pause_request;
  decide();
  const Status saved = files_.save(pause_request_);
  if (saved.ok()) return {};
  return saved.error().prefixed("it counts now, but would not survive a restart");
}

Result<std::string> Governor::pause(const wire::Pause& request) {
  move_snoozes();
  wire::PauseRequest pause_request = pause_request_;
  WallTime until;
  const WallTime now = clock_.wall_now();
  if (!request.duration.empty()) {
    STARLING_ASSIGN(until, policy::end_of_snooze(request.duration, now, offset_));
  }
  const std::string how_long =
      until.unix_ms == 0 ? "until you resume" : "until " + policy::moment_text(until, now, offset_);
  // "tomorrow" is a time of day, all others are lengths.
  const bool by_length = request.duration != "tomorrow";
  if (request.gpu) {
    pause_request.gpu = true;
    pause_request.gpu_until = until;
    snoozed_here_.gpu = by_length;
    STARLING_TRY(keep_pause_request(pause_request));
    return fmt::format("The graphics card is left alone {}.", how_long);
  }
  pause_request.kind = request.after_round ? PauseKind::after_round : PauseKind::now;
  pause_request.until = until;
  snoozed_here_.pause = by_length;
  pause_request.reason = request.reason;
  STARLING_TRY(keep_pause_request(pause_request));
  return fmt::format("{} {}.", request.after_round ? "Pausing after this round," : "Paused", how_long);
}

Result<std::string> Governor::resume(const wire::Resume& request) {
  wire::PauseRequest pause_request = request.gpu ? pause_request_ : wire::PauseRequest();
  pause_request.gpu = false;
  pause_request.gpu_until = {};
  STARLING_TRY(keep_pause_request(pause_request));
  if (request.gpu) {
    return verdict_.gpu ? std::string("The graphics card may be used again.")
                        : fmt::format("Resumed, but the graphics card is not used yet: {}.", verdict_.gpu_text);
  }
  if (verdict_.may_train()) return std::string("Resumed.");
  return fmt::format("Resumed, but still not training: {}.", describe_obstacle(verdict_));
}

Result<wire::Preferences> Governor::change_preferences(const wire::SetPreferences& request) {
  wire::Preferences changed = preferences_;
  if (!request.preset.empty()) STARLING_TRY(wire::apply_preset(changed, request.preset));
  for (const wire::PreferenceChange& change : request.changes) {
    STARLING_TRY(wire::set_preference(changed, change.name, change.value));
  }
  if (const Status saved = files_.save(changed); !saved.ok()) return saved.error().prefixed("save the preferences");
  preferences_ = changed;
  decide();
  return preferences_;
}

void Governor::describe(wire::DaemonStatus& status) const {
  status.paused = verdict_.reason == Reason::paused || verdict_.reason == Reason::snoozed;
  wire::RulesStatus& rules = status.rules;
  rules.code = policy::to_string(verdict_.reason);
  if (status.phase == wire::DaemonPhase::paused) {
    status.reason = verdict_.text;
    status.ends_when = verdict_.ends_when;
    rules.action = verdict_.action.label;
    rules.action_command = verdict_.action.command;
    rules.ends_at = verdict_.ends_at.value_or(WallTime());
  }
  rules.pause_after_round = verdict_.pause_after_round;
  rules.threads = verdict_.threads;
  rules.memory_bytes = verdict_.memory_bytes;
  rules.gpu_present = surroundings_.has_gpu;
  rules.gpu = verdict_.gpu;
  rules.gpu_reason = verdict_.gpu_text;
  rules.unknown = verdict_.unknown;
  const storage::MonthTraffic used = traffic_.used();
  rules.month_bytes = used.total();
  rules.month_averaging_bytes = used.averaging;
  rules.month_models_bytes = used.models;
  rules.month_coordinator_bytes = used.coordinator;
  rules.month_bytes_max = static_cast<std::int64_t>(preferences_.traffic.data_max_gb_per_month.value_or(0) * kGigabyte);
  // The forecast is by the hour, so that a status does not change with the time alone.
  const WallTime hour{clock_.wall_now().unix_ms / kHourMs * kHourMs};
  rules.month_bytes_forecast = policy::forecast_month_bytes(used.total(), month_of(used.since), hour).value_or(0);
  status.problems.insert(status.problems.end(), files_.problems().begin(), files_.problems().end());
}

}  // namespace starling::daemon
