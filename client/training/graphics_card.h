// The graphics card that LibTorch computes on, where this build of it knows one.
#pragma once

#include <string>

#include "shared/base/result.h"

namespace starling::training {

// Opens the first card there is, takes at most `memory_percent` (1..100) of its memory from then on, and lets the
// libraries that compute on it begin. Returns its name for LibTorch, such as "cuda:0"; empty when there is no card, or
// this LibTorch computes on none. internal, with the driver's words, for one that does not work. Once per process.
Result<std::string> open_graphics_card(int memory_percent);

// Returns memory that nothing uses to the card, so that smaller pieces than before fit.
void trim_graphics_memory();

}  // namespace starling::training
