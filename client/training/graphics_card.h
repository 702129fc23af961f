// The graphics cards that LibTorch computes on, if this build supports any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::training {

// Opens all cards of the first card's kind, limits this process to `memory_percent` (1..100) of each card's memory, and
// loads the libraries that compute on them. Returns LibTorch's names, such as "cuda:0". unsupported when this LibTorch
// supports none; not_found when there is none that the driver knows, or no driver; internal for one that does not work.
// The messages are for people, and have the driver's. Once per process.
Result<std::vector<std::string>> open_graphics_cards(int memory_percent);

// A card as its driver describes it.
struct GraphicsCard {
  std::string name;
  std::int64_t memory_bytes = 0;
};
// One of those that were opened, by its number.
GraphicsCard graphics_card(int number);

// Whether these cards multiply bf16 faster than floats.
bool cards_compute_in_bf16();

// Returns unused memory to the cards, so that smaller pieces than before fit.
void trim_graphics_memory();

}  // namespace starling::training
