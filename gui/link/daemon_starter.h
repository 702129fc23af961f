// Starts the daemon in a session of its own: it continues when the window is closed or crashes.
#pragma once

#include <QString>
#include <filesystem>

#include "shared/base/result.h"

namespace starling::link {

// The folder of this installation's programs that remains valid after an update: through the `current` link, if there
// is one.
QString lastingFolder(const QString& folder);
QString programFolder();
// The path of this program in that folder.
QString thisProgram();
// The path of `program` in the version to which its installation has changed since it was started; empty if it has not
// changed.
QString successorOf(const QString& program);
// The program of that name beside this one, or else in the PATH; empty if there is none.
QString findProgram(const QString& name);
// Returns at once; DaemonLink shows whether the daemon came up. Errors not_found and unavailable: the message contains
// advice.
Status startDaemon(const QString& program, const std::filesystem::path& data_dir);

}  // namespace starling::link
