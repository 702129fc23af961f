// Passwords from a file or a terminal, never from the command line, which everybody on the computer can read.
#pragma once

#include <filesystem>
#include <string>

#include "shared/base/result.h"

namespace starling::cli {

// The first line of a file, or of the standard input for "-".
Result<std::string> read_password(const std::filesystem::path& file);

// Asks at the terminal without showing the typed characters; with `twice`, asks again, so that a mistyped password is
// not accepted. failed_precondition without a terminal.
Result<std::string> ask_password(bool twice);

}  // namespace starling::cli
