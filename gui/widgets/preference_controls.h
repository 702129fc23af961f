// One control for each kind of setting, bound to the setting's name (shared/control/preferences.h): it shows the
// daemon's value, and sends the volunteer's changes to the daemon.
#pragma once

#include <QString>
#include <QWidget>

#include "gui/models/daemon_model.h"

namespace starling::widgets {

// A limit's form in the window; its range is the preference's own.
struct LimitForm {
  double initial = 0;  // offered when the limit is first switched on
  int decimals = 0;
};

QWidget* makeSwitch(models::DaemonModel& daemon, const char* preference, const QString& label);
// A whole number in the preference's range.
QWidget* makeNumber(models::DaemonModel& daemon, const char* preference, const QString& label);
// A number with a switch before it; off means that there is no such limit.
QWidget* makeLimit(models::DaemonModel& daemon, const char* preference, const QString& label, const LimitForm& form);
// A choice between always, by the rules, and never.
QWidget* makeMode(models::DaemonModel& daemon, const char* preference, const QString& label);
QWidget* makeWords(models::DaemonModel& daemon, const char* preference, const QString& label, const QString& example);
QWidget* makeSchedule(models::DaemonModel& daemon, const char* on_preference, const char* hours_preference,
                      const QString& label);
// The control for the setting's kind, with the command line's text as its label: for settings that have no words of
// their own in the window.
QWidget* makeControl(models::DaemonModel& daemon, const wire::PreferenceInfo& info);

}  // namespace starling::widgets
