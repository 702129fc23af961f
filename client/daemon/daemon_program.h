// The whole of starlingd behind its main(): command line, signals, log, and the daemon between them.
#pragma once

#include <string>

#include "client/daemon/outgoing.h"

namespace starling::daemon {

struct DaemonProgram {
  std::string trainer_folder;  // an installation's, relative to the program's own folder
  std::string update_source;   // the file that names the source of newer versions, relative to that folder, too
  Outgoing outgoing = {};
};

// Returns the exit status.
int run_daemon(int argc, char** argv, const DaemonProgram& program);

}  // namespace starling::daemon
