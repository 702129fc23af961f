// Commands that are printed for people to copy into a shell.
#pragma once

#include <string>
#include <string_view>

namespace starling {

// Returns the text as one word of a POSIX shell: as it is where the shell takes it literally, else in apostrophes.
std::string shell_word(std::string_view text);

}  // namespace starling
