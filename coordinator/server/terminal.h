// Questions to whoever gives a command on a terminal.
#pragma once

#include <string>

#include "shared/base/result.h"

namespace starling::server {

// True if standard input is a terminal.
bool is_terminal();
// Asks until it gets an answer; true for "y" or "yes". False where standard input is no terminal, or at its end.
bool confirms(const std::string& question);
// One line, which the terminal does not show. failed_precondition where standard input is no terminal.
Result<std::string> read_secret(const std::string& prompt);

}  // namespace starling::server
