#include "coordinator/dataset/examples.h"

#include <fmt/format.h>

#include <algorithm>

namespace starling::dataset {

std::string examples_of(std::span<const std::string> all, std::string_view separator, std::size_t most) {
  const std::size_t told = std::min(all.size(), most);
  std::string text = fmt::format("{}", fmt::join(all.first(told), separator));
  if (told < all.size()) text += fmt::format(" and {} more", all.size() - told);
  return text;
}

std::string percent_of(double share) {
  if (share > 0 && share < 1e-6) return "less than 0.0001 %";
  return share >= 0.1 ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.2g} %", 100 * share);
}

}  // namespace starling::dataset
