// Calls of one cell and one way, merged so that their units are computed together: first the units of all calls at the
// first expert, then those at the second one, and so on. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace starling::serving {

// A call's units, with their values. The spans outlive the calls of the functions below.
struct Share {
  std::span<const std::int32_t> counts;  // units, by expert of the cell
  std::span<const std::int32_t> rows;    // by unit, in the order of experts: a row of the inputs
  std::span<const float> inputs;         // [rows, width]
  std::span<const float> upstream;       // [units, width]; none on the way forth
};

// The units of all shares as if they were those of one call.
struct Merged {
  std::vector<std::int32_t> counts;
  std::vector<std::int32_t> rows;
  std::vector<float> inputs;  // those of one share behind those of another
  std::vector<float> upstream;
};

// All shares have as many experts.
Merged merge(std::span<const Share> shares, std::size_t width);
// Gives each share its part of the answer to the merged units, in its own order: results [units, width] on the way
// forth, the gradient of the inputs [rows, width] on the way back.
std::vector<std::vector<float>> split_results(std::span<const Share> shares, std::span<const float> results,
                                              std::size_t width);
std::vector<std::vector<float>> split_gradient(std::span<const Share> shares, std::span<const float> gradient);

}  // namespace starling::serving
