// A micro-batch's tokens at a layer of experts, sorted by the cells that have these experts. A part is the tokens of
// one cell; a unit is a token at one expert of it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/run/cells.h"

namespace starling::routing {

class Crossing {
 public:
  struct Part {
    wire::CellIndex cell = 0;
    std::vector<std::int32_t> counts{};  // units, by expert of the cell
    std::vector<std::int32_t> rows{};    // by unit, in the order of experts: its token's place in `tokens`
    std::vector<std::int32_t> tokens{};  // each once
    std::size_t first = 0;               // its first unit among those of all parts
    [[nodiscard]] std::size_t units() const { return rows.size(); }
  };

  // cells: all of the model (wire::cells_of). chosen: [tokens, active], experts of the layer; below 0: none. A cell
  // that no token goes to has no part.
  Crossing(std::span<const wire::Cell> cells, int layer, int active, std::vector<std::int32_t> chosen);

  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  // The choice, without experts of parts that are lost.
  [[nodiscard]] const std::vector<std::int32_t>& experts() const { return chosen_; }
  // By unit, those of all parts one behind the other: its place in experts().
  [[nodiscard]] const std::vector<std::int32_t>& places() const { return places_; }
  // Nobody answers for this part.
  void lose(std::size_t part);

 private:
  std::vector<std::int32_t> chosen_;
  std::vector<std::int32_t> places_;
  std::vector<Part> parts_;
};

// The rows of `values`, [rows, width], at these places.
std::vector<float> rows_at(std::span<const float> values, std::span<const std::int32_t> places, std::size_t width);
// Adds rows to those of `into` at these places.
void add_rows_at(std::span<const float> rows, std::span<const std::int32_t> places, std::size_t width,
                 std::span<float> into);

}  // namespace starling::routing
