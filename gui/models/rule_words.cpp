#include "gui/models/rule_words.h"

#include <QCoreApplication>

#include "gui/models/format.h"

namespace starling::models {
namespace {

struct Rules {
  Q_DECLARE_TR_FUNCTIONS(Rules)
};

wire::ControlRequest setting(const char* name, const char* value) { return wire::SetPreferences{{}, {{name, value}}}; }

QString goesOnAt(const wire::DaemonStatus& status, WallTime now, const QString& otherwise) {
  if (status.rules.ends_at.unix_ms == 0) return otherwise;
  return Rules::tr("Goes on: %1.", "a moment").arg(momentText(status.rules.ends_at, now));
}

// The reason that the volunteer or a program gave, after "paused by you: ".
QString reasonGiven(const wire::DaemonStatus& status) {
  const std::size_t colon = status.reason.find(": ");
  if (colon == std::string::npos) return {};
  return QStringLiteral(": ") + text(status.reason.substr(colon + 2));
}

Situation waiting(QString headline, QString detail) {
  return {Face::waiting,
          std::move(headline),
          std::move(detail),
          Remedy::open_preferences,
          Rules::tr("Change the limit…"),
          {}};
}

Situation waiting(QString headline, QString detail, QString action, wire::ControlRequest request) {
  return {Face::waiting,   std::move(headline), std::move(detail),
          Remedy::request, std::move(action),   std::move(request)};
}

std::optional<Situation> byRequest(const wire::DaemonStatus& status, WallTime now) {
  const std::string& code = status.rules.code;
  if (code == "paused" || code == "snoozed") {
    const QString headline = code == "paused" ? Rules::tr("Paused by you") : Rules::tr("Snoozed by you");
    return Situation{Face::paused,
                     headline + reasonGiven(status),
                     goesOnAt(status, now, Rules::tr("Goes on when you resume.")),
                     Remedy::request,
                     Rules::tr("Resume"),
                     wire::Resume{}};
  }
  if (code == "compute_off") {
    Situation off =
        waiting(Rules::tr("Training is switched off in the preferences"), Rules::tr("Goes on when you switch it on."),
                Rules::tr("Train by the rules again"), setting("compute", "rules"));
    off.face = Face::paused;
    return off;
  }
  if (code == "network_off") {
    Situation off = waiting(Rules::tr("The network is switched off in the preferences"),
                            Rules::tr("Goes on when you switch it on."),
                            Rules::tr("Use the network by the rules again"), setting("network", "rules"));
    off.face = Face::paused;
    return off;
  }
  return std::nullopt;
}

std::optional<Situation> byLimit(const wire::DaemonStatus& status, const wire::Preferences& p, WallTime now) {
  const std::string& code = status.rules.code;
  if (code == "disk_low") {
    return waiting(Rules::tr("Less than %1 GB of the disk are free").arg(p.storage.disk_free_min_gb),
                   Rules::tr("Goes on when there is more room."));
  }
  if (code == "disk_cap") {
    return waiting(Rules::tr("Models and data take more than the %1 GB of disk you allow").arg(p.storage.disk_max_gb),
                   Rules::tr("Goes on when you allow more."));
  }
  if (code == "too_hot") {
    return waiting(
        Rules::tr("The computer is hotter than the %1 °C you allow").arg(p.limits.temperature_max_c.value_or(0)),
        Rules::tr("Goes on when it has cooled down."));
  }
  if (code == "data_cap") {
    return waiting(Rules::tr("This month's %1 GB of data are used up")
                       .arg(numberText(p.traffic.data_max_gb_per_month.value_or(0), 1)),
                   goesOnAt(status, now, Rules::tr("Goes on next month.")));
  }
  if (code == "battery_low") {
    return waiting(Rules::tr("The battery is below %1 %").arg(p.when.battery_min_percent),
                   Rules::tr("Goes on when it is plugged in or charged."));
  }
  if (code == "exclusive_program") {
    return waiting(Rules::tr("A program on your list is running"), Rules::tr("Goes on when it ends."));
  }
  return std::nullopt;
}

std::optional<Situation> byTime(const wire::DaemonStatus& status, WallTime now) {
  const std::string& code = status.rules.code;
  if (code == "compute_hours") {
    return waiting(Rules::tr("Outside the hours of your schedule"),
                   goesOnAt(status, now, Rules::tr("Goes on when you change the schedule.")),
                   Rules::tr("Train at any hour"), setting("compute_schedule_on", "no"));
  }
  if (code == "network_hours") {
    return waiting(Rules::tr("Outside the network hours of your schedule"),
                   goesOnAt(status, now, Rules::tr("Goes on when you change the schedule.")),
                   Rules::tr("Use the network at any hour"), setting("network_schedule_on", "no"));
  }
  return std::nullopt;
}

std::optional<Situation> byUse(const std::string& code, const wire::Preferences& p) {
  if (code == "fullscreen") {
    return waiting(Rules::tr("A program fills the screen"), Rules::tr("Goes on when it no longer does."),
                   Rules::tr("Train during full screen too"), setting("during_fullscreen", "yes"));
  }
  if (code == "battery") {
    return waiting(Rules::tr("The computer runs on battery"), Rules::tr("Goes on when it is plugged in."),
                   Rules::tr("Train on battery too"), setting("on_battery", "yes"));
  }
  if (code == "in_use") {
    return waiting(Rules::tr("Somebody uses the computer"),
                   Rules::tr("Goes on when nobody has used it for %n minute(s).", nullptr, p.when.idle_minutes),
                   Rules::tr("Train while it is in use too"), setting("while_in_use", "yes"));
  }
  if (code == "idle_unknown") {
    return waiting(Rules::tr("No sensor here tells whether somebody uses the computer"),
                   Rules::tr("Goes on when one does, or when you allow training while it is in use."),
                   Rules::tr("Train while it is in use too"), setting("while_in_use", "yes"));
  }
  if (code == "metered") {
    return waiting(Rules::tr("The connection is metered, such as a phone's"),
                   Rules::tr("Goes on when another network is connected."), Rules::tr("Use it nevertheless"),
                   setting("on_metered", "yes"));
  }
  return std::nullopt;
}

}  // namespace

Situation pausedByRules(const wire::DaemonStatus& status, const wire::Preferences& preferences, WallTime now) {
  std::optional<Situation> found = byRequest(status, now);
  if (!found) found = byLimit(status, preferences, now);
  if (!found) found = byTime(status, now);
  if (!found) found = byUse(status.rules.code, preferences);
  // A newer daemon may have reasons that this window does not know: the daemon's own text is shown then.
  if (!found) found = waiting(text(status.reason), text(status.ends_when));
  return *found;
}

}  // namespace starling::models
