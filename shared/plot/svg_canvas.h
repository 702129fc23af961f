// The canvas of every plot here: an SVG picture that suits a light page and a dark one, by the viewer's system setting.
// Series have colours that everybody can tell apart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace starling::plot {

// A place in pixels, from the upper left corner.
struct Point {
  double x = 0;
  double y = 0;
};

// The part of a text that stands at its point.
enum class Anchor : unsigned char { start, middle, end };

// The kind of a line, which gives its colour and width.
enum class Ink : unsigned char { axis, grid, mark };

// Coordinates are pixels from the upper left corner.
class SvgCanvas {
 public:
  void line(Point from, Point to, Ink ink);
  void text(Point at, Anchor anchor, int size, std::string_view what);
  void upward_text(Point at, int size, std::string_view what);
  // `series` counts from 0 and selects the colour.
  void curve(std::size_t series, const std::vector<Point>& points);
  void dot(std::size_t series, Point at, double radius);
  void box(std::size_t series, Point upper_left, Point lower_right);
  // Draws a title and the names of the series.
  void header(double left, std::string_view title, const std::vector<std::string>& series);
  static constexpr double kHeaderHeight = 64;

  [[nodiscard]] std::string finish(double width, double height) const;

 private:
  std::string out_;
};

// About `about` round numbers between the two. low < high.
std::vector<double> round_ticks(double low, double high, int about);

}  // namespace starling::plot
