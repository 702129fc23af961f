// The graphics cards that LibTorch computes on, where this build of it knows any.
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::training {

// Opens all cards of the kind of the first, takes at most `memory_percent` (1..100) of the memory of each from then on,
// and lets the libraries that compute on them begin. Returns their names for LibTorch, such as "cuda:0"; none when
// there is no card, or this LibTorch computes on none. internal, with the driver's words, for one that does not work.
// Once per process.
Result<std::vector<std::string>> open_graphics_cards(int memory_percent);

// Whether these cards multiply bf16 faster than floats.
bool cards_compute_in_bf16();

// Returns memory that nothing uses to the cards, so that smaller pieces than before fit.
void trim_graphics_memory();

}  // namespace starling::training
