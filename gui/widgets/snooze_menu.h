// The menu to pause for a while, in the window and the tray.
#pragma once

#include <QMenu>

#include "gui/models/daemon_model.h"

namespace starling::widgets {

// `gpu`: pauses the graphics card alone. The menu sends its requests to the daemon itself.
QMenu* makeSnoozeMenu(models::DaemonModel& daemon, bool gpu, QWidget* parent);
void pauseAfterRound(models::DaemonModel& daemon);
void pauseNow(models::DaemonModel& daemon);
void resume(models::DaemonModel& daemon);

}  // namespace starling::widgets
