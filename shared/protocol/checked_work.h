// The findings about a member's work: told to it with each reply of the coordinator, and shown to its volunteer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "shared/base/ids.h"

namespace starling::wire {

constexpr std::size_t kVerdictBytesMax = 1024;

// How a member's own work stands, in a run whose work is checked.
struct CheckedWork {
  std::int64_t times = 0;   // its rounds that others recomputed, and that were right
  std::int64_t missed = 0;  // those that were not
  SampleCount pending = 0;  // samples of its account that are credited, and may still be taken back
  std::string verdict{};    // for people: what to do about the last miss; empty: nothing
};

}  // namespace starling::wire
