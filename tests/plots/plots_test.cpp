#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "tests/plots/curve_plot.h"
#include "tests/plots/dot_plot.h"

using namespace starling::plot;

namespace {

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// The x of the first element that begins so.
double x_of(const std::string& svg, const std::string& beginning) {
  const std::size_t at = svg.find(beginning);
  REQUIRE(at != std::string::npos);
  return std::stod(svg.substr(at + beginning.size()));
}

}  // namespace

TEST_CASE("every measurement is a dot, every series has its median, and values lie in order on the axis") {
  const DotPanel panel{"ratios",
                       "time over the bound",
                       true,
                       1,
                       {{"4 x 100 <Mbit/s>", {{"ours", {1.2, 1.1, 1.4}}, {"Gloo", {2.0}}}, 1.15}}};
  const std::string svg = dot_plot("Averaging", {panel});
  CHECK(count(svg, "<circle class=\"d0\"") == 3);
  CHECK(count(svg, "<circle class=\"d1\"") == 1);
  CHECK(count(svg, ">1.20</text>") == 1);
  CHECK(count(svg, ">2.00</text>") == 1);
  CHECK(count(svg, "4 x 100 &lt;Mbit/s>") == 1);
  const double ours = x_of(svg, "<circle class=\"d0\" cx=\"");
  const double gloo = x_of(svg, "<circle class=\"d1\" cx=\"");
  const double aim = x_of(svg, "<line class=\"mark\" x1=\"");
  CHECK(aim < ours);
  CHECK(ours < gloo);
}

TEST_CASE("a panel without measurements is left out") {
  const DotPanel empty{"nothing here", "s", false, 0, {{"a row", {{"ours", {}}}, {}}}};
  CHECK(count(dot_plot("Averaging", {empty}), "nothing here") == 0);
}

TEST_CASE("curves have a panel a title, a colour a label, text is escaped, and dark pages are suited too") {
  const std::string svg =
      curve_plot({{"a < b", {{"one", {1, 0.5, 0}}, {"two", {1, 1e-30}}}}, {"c", {{"one", {1, 0.1}}}}},
                 {"R & D", "rounds", "error", 12});
  CHECK(count(svg, "<polyline") == 5);               // three curves, two places in the legend
  CHECK(count(svg, "<polyline class=\"c0\"") == 3);  // both curves called "one", and its legend
  CHECK(count(svg, "a &lt; b") == 1);
  CHECK(count(svg, "R &amp; D") == 1);
  CHECK(count(svg, "nan") == 0);
  CHECK(count(svg, "prefers-color-scheme:dark") == 1);
}
