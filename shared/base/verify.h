// VERIFY(condition): for a condition that is false only if the program has a bug. Always on; never for input.
#pragma once

namespace starling {

// Prints the condition and its place, then aborts.
[[noreturn]] void verify_failed(const char* condition, const char* file, int line);

}  // namespace starling

#define VERIFY(condition) \
  (static_cast<bool>(condition) ? void(0) : ::starling::verify_failed(#condition, __FILE__, __LINE__))
