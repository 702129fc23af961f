// The graphics cards that LibTorch computes on, if this build supports any.
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::training {

// Opens all cards of the first card's kind, limits this process to `memory_percent` (1..100) of each card's memory, and
// loads the libraries that compute on them. Returns LibTorch's names, such as "cuda:0"; none when there is no card, or
// this LibTorch supports none. internal, with the driver's message, for one that does not work. Once per process.
Result<std::vector<std::string>> open_graphics_cards(int memory_percent);

// Whether these cards multiply bf16 faster than floats.
bool cards_compute_in_bf16();

// Returns unused memory to the cards, so that smaller pieces than before fit.
void trim_graphics_memory();

}  // namespace starling::training
