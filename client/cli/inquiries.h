// Commands that ask the daemon more than one thing, or answer without it: me, doctor, report.
#pragma once

#include "client/cli/commands.h"
#include "client/cli/control_client.h"

namespace starling::cli {

// The daemon that was meant, here or on another computer.
Result<ControlClient> reach_daemon(const Arguments& arguments);

// How the volunteer stands: a few lines, or one object.
Result<std::string> describe_me(ControlClient& daemon, bool json);

// Whether something is wrong, by what can be seen from here, with or without a daemon.
struct Diagnosis {
  std::string text;
  bool well = true;
};
Diagnosis diagnose(const Arguments& arguments);

// Everything that helps somebody else to find out what is wrong, with nothing private in it; of readable size.
std::string make_report(const Arguments& arguments);

}  // namespace starling::cli
