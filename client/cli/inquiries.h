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
};
Diagnosis diagnose(const Arguments& arguments);

// All facts that help somebody else to find a fault, with nothing private in them; of readable size.
std::string make_report(const Arguments& arguments);

}  // namespace starling::cli
