// Pausing for a while, as window and tray offer it.
#pragma once

#include <QMenu>

#include "gui/models/daemon_model.h"

namespace starling::widgets {

// `gpu`: the graphics card alone. The menu asks the daemon by itself.
QMenu* makeSnoozeMenu(models::DaemonModel& daemon, bool gpu, QWidget* parent);
void pauseAfterRound(models::DaemonModel& daemon);
void pauseNow(models::DaemonModel& daemon);
void resume(models::DaemonModel& daemon);

}  // namespace starling::widgets
