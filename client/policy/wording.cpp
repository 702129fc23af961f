#include "client/policy/wording.h"

#include <fmt/core.h>

namespace starling::policy {
namespace {

struct Explanation {
  std::string text;
  std::string ends_when;
  Action action;
  std::optional<WallTime> ends_at = std::nullopt;
};

std::string at(const Situation& s, WallTime when) { return moment_text(when, s.now, s.offset); }

Explanation request_explanation(Reason reason, const Situation& s) {
  const std::string why = s.pause_request.reason.empty() ? "" : ": " + s.pause_request.reason;
  switch (reason) {
    case Reason::paused:
      return {"paused by you" + why, "you resume", {"resume", "resume"}};
    case Reason::snoozed:
      return {"snoozed by you" + why, at(s, s.pause_request.until), {"resume now", "resume"}, s.pause_request.until};
    case Reason::compute_off:
      return {"training is switched off in the preferences",
              "you switch it on",
              {"train by the rules again", "prefs set compute rules"}};
    default:
      return {"the network is switched off in the preferences",
              "you switch it on",
              {"use the network by the rules again", "prefs set network rules"}};
  }
}

Explanation limit_explanation(Reason reason, const Situation& s) {
  const wire::Preferences& p = s.preferences;
  switch (reason) {
    case Reason::disk_low:
      return {fmt::format("less than {} GB of the disk are free", p.storage.disk_free_min_gb),
              "there is more room",
              {"free some disk space, or leave less of it free", "prefs set disk_free_min_gb GB"}};
    case Reason::disk_cap:
      return {fmt::format("models and data take more than the {} GB of disk you allow", p.storage.disk_max_gb),
              "you allow more",
              {"allow more disk space", "prefs set disk_max_gb GB"}};
    case Reason::too_hot:
      return {fmt::format("the computer is hotter than the {} °C you allow", *p.limits.temperature_max_c),
              "it has cooled down",
              {"let it cool down, or allow more", "prefs set temperature_max_c DEGREES"}};
    default: {
      const WallTime within = s.month_begin.unix_ms == 0 ? s.now : s.month_begin;
      const Month month = month_around(within, p.traffic.data_month_first_day, s.offset);
      return {fmt::format("this month's {} GB of data are used up", *p.traffic.data_max_gb_per_month),
              at(s, month.end),
              {"allow more data", "prefs set data_max_gb_per_month GB"},
              month.end};
    }
  }
}

// The explanation of a reason that a schedule causes; it ends with the schedule's next allowed hour, if there is one.
Explanation hours_explanation(const Situation& s, std::string text, const wire::WeekHours& hours, Action action) {
  const auto end = next_change(hours, s.now, s.offset);
  return {std::move(text), end ? at(s, *end) : "you change the schedule", std::move(action), end};
}

Explanation in_use_explanation(const Situation& s) {
  return {"somebody uses the computer",
          fmt::format("nobody has used it for {} minutes", s.preferences.when.idle_minutes),
          {"train while it is in use too", "prefs set while_in_use yes"}};
}

Explanation rule_explanation(Reason reason, const Situation& s) {
  const wire::Preferences& p = s.preferences;
  switch (reason) {
    case Reason::exclusive_program: {
      const std::string name = *exclusive_program_running(s);
      return {fmt::format("'{}' is running", name),
              "it ends",
              {"close it, or take it off the list", "prefs set exclusive_programs NAMES"}};
    }
    case Reason::fullscreen:
      return {"a program fills the screen",
              "it no longer does",
              {"train during full screen too", "prefs set during_fullscreen yes"}};
    case Reason::battery:
      return {"the computer runs on battery",
              "it is plugged in",
              {"plug it in, or train on battery too", "prefs set on_battery yes"}};
    case Reason::battery_low:
      return {fmt::format("the battery is below {} %", p.when.battery_min_percent),
              "it is plugged in or charged",
              {"plug it in, or allow a lower charge", "prefs set battery_min_percent PERCENT"}};
    case Reason::compute_hours:
      return hours_explanation(s, "outside the hours of your schedule", p.hours.compute_schedule,
                               {"train at any hour", "prefs set compute_schedule_on no"});
    case Reason::in_use:
      return in_use_explanation(s);
    case Reason::idle_unknown:
      return {"no sensor here tells whether somebody uses the computer",
              "one does, or you allow training while it is in use",
              {"train while it is in use too", "prefs set while_in_use yes"}};
    case Reason::metered:
      return {"the network is paid by volume",
              "another network is connected",
              {"use it nevertheless", "prefs set on_metered yes"}};
    default:
      return hours_explanation(s, "outside the network hours of your schedule", p.hours.network_schedule,
                               {"use the network at any hour", "prefs set network_schedule_on no"});
  }
}

}  // namespace

void explain(const Situation& situation, Verdict& verdict) {
  if (verdict.reason == Reason::none) return;
  Explanation explanation = verdict.reason <= Reason::network_off ? request_explanation(verdict.reason, situation)
                            : verdict.reason <= Reason::data_cap  ? limit_explanation(verdict.reason, situation)
                                                                  : rule_explanation(verdict.reason, situation);
  verdict.text = std::move(explanation.text);
  verdict.ends_when = std::move(explanation.ends_when);
  verdict.ends_at = explanation.ends_at;
  verdict.action = std::move(explanation.action);
}

std::string gpu_pause_text(const Situation& s) {
  if (s.pause_request.gpu_until.unix_ms == 0) return "paused by you, until you resume it";
  return "snoozed by you, until " + at(s, s.pause_request.gpu_until);
}

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "none";
    case Reason::paused:
      return "paused";
    case Reason::snoozed:
      return "snoozed";
    case Reason::compute_off:
      return "compute_off";
    case Reason::network_off:
      return "network_off";
    case Reason::disk_low:
      return "disk_low";
    case Reason::disk_cap:
      return "disk_cap";
    case Reason::too_hot:
      return "too_hot";
    case Reason::data_cap:
      return "data_cap";
    case Reason::exclusive_program:
      return "exclusive_program";
    case Reason::fullscreen:
      return "fullscreen";
    case Reason::battery:
      return "battery";
    case Reason::battery_low:
      return "battery_low";
    case Reason::compute_hours:
      return "compute_hours";
    case Reason::in_use:
      return "in_use";
    case Reason::idle_unknown:
      return "idle_unknown";
    case Reason::metered:
      return "metered";
    case Reason::network_hours:
      return "network_hours";
  }
  return "unknown";
}

}  // namespace starling::policy
