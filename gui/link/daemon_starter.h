// Starts the daemon, in a session of its own: it goes on when the window is closed or crashes.
#pragma once

#include <QString>
#include <filesystem>

#include "shared/base/result.h"

namespace starling::link {

// Where this installation's programs are, also after it has updated itself: its `current` link, where it has one.
QString lastingFolder(const QString& folder);
QString programFolder();
// This program there.
QString thisProgram();
// `program` in the version that its installation has changed to since it was started; empty where that is the same
// still.
QString successorOf(const QString& program);
// The starlingd beside this program, or else in the PATH; empty when there is none.
QString findDaemon();
// Returns at once; whether it came up is seen by DaemonLink. not_found, unavailable: what to do is in the message.
Status startDaemon(const QString& program, const std::filesystem::path& data_dir);

}  // namespace starling::link
