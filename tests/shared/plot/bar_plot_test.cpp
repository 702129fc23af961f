#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "shared/plot/bar_plot.h"

using namespace starling::plot;

namespace {

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("bars are as long as their parts together, in order, and the longest fills the picture") {
  const std::string svg = bar_plot(
      {"Ranking", "hours", {"computing", "averaging"}, {{"diloco <fp16>", {1, 0}, "1 h"}, {"dedloc", {1, 3}, "4 h"}}});
  const std::string part = "<rect class=\"d0\" x=\"";
  CHECK(count(svg, part) == 2);
  CHECK(count(svg, "diloco &lt;fp16>") == 1);
  CHECK(count(svg, "width=\"120.0\" height=\"15.0\"") == 2);
  CHECK(count(svg, "width=\"360.0\" height=\"15.0\"") == 1);
  CHECK(count(bar_plot({"Nothing", "s", {"a"}, {{"b", {0}, ""}}}), "nan") == 0);
}
