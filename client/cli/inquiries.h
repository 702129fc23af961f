// Commands that ask the daemon several questions, or answer without it: me, doctor, report.
#pragma once

#include "client/cli/commands.h"
#include "client/cli/control_client.h"

namespace starling::cli {

// Connects to the chosen daemon, here or on another computer.
Result<ControlClient> reach_daemon(const Arguments& arguments);

// The volunteer's standing: a few lines, or one JSON object.
Result<std::string> describe_me(ControlClient& daemon, bool json);

// Whether something is wrong, as far as can be seen from here, with or without a daemon.
struct Diagnosis {
  std::string text;
  bool well = true;
  bool stopped = false;  // by Ctrl-C or SIGTERM, before it was complete
};
Diagnosis diagnose(const Arguments& arguments);
// Whether this computer computes right, with as many threads and as much memory as the preferences allow: beside a
// daemon, which has its own share, or without one. Takes over
// Ctrl-C and SIGTERM, and shows on stderr how far it is. trainer_folder: see trainer_link::trainer_program.
Diagnosis self_test(const Arguments& arguments, const std::string& trainer_folder);

// All facts that help somebody else to find a fault, with nothing private in them; of readable size.
std::string make_report(const Arguments& arguments);

}  // namespace starling::cli
