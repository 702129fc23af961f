#include "shared/base/version.h"

#include <charconv>

namespace starling {

constinit const std::string_view kVersion = STARLING_VERSION;

namespace {

// Removes the first dotted number from `text` and returns it.
int take_number(std::string_view& text) {
  const std::size_t dot = text.find('.');
  const std::string_view part = text.substr(0, dot);
  text = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  int number = 0;
  std::from_chars(part.data(), part.data() + part.size(), number);
  return number;
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const int left = take_number(a);
    const int right = take_number(b);
    if (left != right) return left < right ? -1 : 1;
  }
  return 0;
}

}  // namespace starling
