// Tests that this machine cannot run say so: they count neither as passed nor as failed.
#pragma once

#include <string>

namespace starling::testing {

inline constexpr const char* kSkipMark = "skipped: ";

// Ends the test case: this machine lacks what it needs. If nothing else fails, the program ends with 77, which ctest
// shows as skipped, and prints each reason in a line "skipped: …".
[[noreturn]] void skip(const std::string& reason);

}  // namespace starling::testing
