// The whole of starlingd behind its main(): command line, signals, log, and the daemon between them.
#pragma once

#include <string>

#include "client/daemon/outgoing.h"

namespace starling::daemon {

struct DaemonProgram {
  std::string trainer_folder;  // of an installation, from the program's own folder
  std::string update_source;   // the file that says where newer versions are, from there as well
  Outgoing outgoing = {};
};

// Returns the exit status.
int run_daemon(int argc, char** argv, const DaemonProgram& program);

}  // namespace starling::daemon
