#include "client/routing/crossing.h"

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"

namespace starling::routing {

Crossing::Crossing(std::span<const wire::Cell> cells, int layer, int active, std::vector<std::int32_t> chosen)
    : chosen_(std::move(chosen)) {
  const auto is_of_layer = [layer](const wire::Cell& cell) { return cell.layer == layer; };
  const auto first_cell = std::find_if(cells.begin(), cells.end(), is_of_layer);
  VERIFY(first_cell != cells.end() && active >= 1);
  int experts = 0;
  for (auto cell = first_cell; cell != cells.end() && is_of_layer(*cell); ++cell) experts += cell->experts;

  std::vector<std::vector<std::int32_t>> places(static_cast<std::size_t>(experts));
  for (std::size_t place = 0; place < chosen_.size(); ++place) {
    if (chosen_[place] < 0) continue;
    places.at(static_cast<std::size_t>(chosen_[place])).push_back(static_cast<std::int32_t>(place));
  }
  std::vector<std::int32_t> row_of(chosen_.size() / static_cast<std::size_t>(active), -1);
  for (auto cell = first_cell; cell != cells.end() && is_of_layer(*cell); ++cell) {
    Part part{.cell = static_cast<wire::CellIndex>(cell - cells.begin()), .first = places_.size()};
    for (int expert = cell->first_expert; expert < cell->first_expert + cell->experts; ++expert) {
      const std::vector<std::int32_t>& here = places[static_cast<std::size_t>(expert)];
      part.counts.push_back(static_cast<std::int32_t>(here.size()));
      for (const std::int32_t place : here) {
        std::int32_t& row = row_of[static_cast<std::size_t>(place / active)];
        if (row < 0) {
          row = static_cast<std::int32_t>(part.tokens.size());
          part.tokens.push_back(place / active);
        }
        part.rows.push_back(row);
        places_.push_back(place);
      }
    }
    for (const std::int32_t token : part.tokens) row_of[static_cast<std::size_t>(token)] = -1;
    if (!part.rows.empty()) parts_.push_back(std::move(part));
  }
}

void Crossing::lose(std::size_t part) {
  const Part& lost = parts_.at(part);
  for (std::size_t unit = lost.first; unit < lost.first + lost.units(); ++unit) {
    chosen_[static_cast<std::size_t>(places_[unit])] = -1;
  }
}

std::vector<float> rows_at(std::span<const float> values, std::span<const std::int32_t> places, std::size_t width) {
  std::vector<float> rows(places.size() * width);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto row = values.subspan(static_cast<std::size_t>(places[i]) * width, width);
    std::copy(row.begin(), row.end(), rows.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  return rows;
}

void add_rows_at(std::span<const float> rows, std::span<const std::int32_t> places, std::size_t width,
                 std::span<float> into) {
  VERIFY(rows.size() == places.size() * width);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto from = rows.subspan(i * width, width);
    const auto to = into.subspan(static_cast<std::size_t>(places[i]) * width, width);
    std::transform(from.begin(), from.end(), to.begin(), to.begin(), [](float more, float sum) { return sum + more; });
  }
}

}  // namespace starling::routing
