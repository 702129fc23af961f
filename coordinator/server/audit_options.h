// The command `audit` and its subcommands, as the command line has them.
#pragma once

#include <functional>

#include "shared/base/result.h"

namespace CLI {
class App;
}

namespace starling::server {

// Adds the command. Parsing a line with it sets `chosen`, which must outlive the parser, to what is to be done.
void add_audit(CLI::App& cli, std::function<Status()>& chosen);

}  // namespace starling::server
