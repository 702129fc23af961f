// The end of a command whose result people or programs read from its standard output.
#pragma once

#include <string_view>

namespace starling {

// Writes out what is left of standard output, and returns the exit status of the program. If something did not get
// through, say because a disk is full, that is told on standard error, and 0 becomes 1: what was printed may be told by
// nothing else. A reader that left, such as `head`, has read what it wanted. Call it once, at the end of main().
int with_output_written(std::string_view program, int status);

}  // namespace starling
