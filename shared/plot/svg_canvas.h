// What every plot here is drawn with: an SVG picture that suits a light page and a dark one, as the viewer's system has
// it. Series have colours that everybody can tell apart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace starling::plot {

struct Point {
  double x = 0;
  double y = 0;
};
enum class Anchor : unsigned char { start, middle, end };
enum class Ink : unsigned char { axis, grid, mark };

// Pixels from the upper left corner.
class SvgCanvas {
 public:
  void line(Point from, Point to, Ink ink);
  void text(Point at, Anchor anchor, int size, std::string_view what);
  void upward_text(Point at, int size, std::string_view what);
  // Of series 0, 1, …
  void curve(std::size_t series, const std::vector<Point>& points);
  void dot(std::size_t series, Point at, double radius);
  void box(std::size_t series, Point upper_left, Point lower_right);
  // A title and what the series are called.
  void header(double left, std::string_view title, const std::vector<std::string>& series);
  static constexpr double kHeaderHeight = 64;

  [[nodiscard]] std::string finish(double width, double height) const;

 private:
  std::string out_;
};

// Round numbers between the two, about `about` of them. low < high.
std::vector<double> round_ticks(double low, double high, int about);

}  // namespace starling::plot
