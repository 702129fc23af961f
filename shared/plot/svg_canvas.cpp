#include "shared/plot/svg_canvas.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace starling::plot {
namespace {

struct Shades {
  std::string_view light;
  std::string_view dark;
};
// Okabe and Ito's colours, which colour-blind people can tell apart too; those too dark for a dark page are lighter
// there.
constexpr Shades kSeries[] = {{"#0072B2", "#4AA8E0"}, {"#E69F00", "#E69F00"}, {"#009E73", "#2BC49A"},
                              {"#CC79A7", "#CC79A7"}, {"#D55E00", "#E8793A"}, {"#56B4E9", "#A5DCFA"},
                              {"#000000", "#FFFFFF"}};
constexpr Shades kPaper = {"#FFFFFF", "#0D1117"};
constexpr Shades kText = {"#202020", "#E6E6E6"};
constexpr Shades kInk[] = {{"#404040", "#B0B0B0"}, {"#D8D8D8", "#30363D"}, {"#A00000", "#FF8080"}};
constexpr std::string_view kInkNames[] = {"axis", "grid", "mark"};
constexpr std::string_view kAnchors[] = {"start", "middle", "end"};

std::string rules(std::string_view Shades::*shade) {
  std::string css = fmt::format(".paper{{fill:{}}}text{{fill:{}}}", kPaper.*shade, kText.*shade);
  for (std::size_t k = 0; k < std::size(kInk); ++k)
    css += fmt::format(".{}{{stroke:{}}}", kInkNames[k], kInk[k].*shade);
  for (std::size_t k = 0; k < std::size(kSeries); ++k) {
    css += fmt::format(".c{0}{{stroke:{1}}}.d{0}{{fill:{1}}}", k, kSeries[k].*shade);
  }
  return css;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void SvgCanvas::line(Point from, Point to, Ink ink) {
  fmt::format_to(std::back_inserter(out_),
                 "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"{}/>\n",
                 kInkNames[static_cast<std::size_t>(ink)], from.x, from.y, to.x, to.y,
                 ink == Ink::mark ? " stroke-width=\"2\"" : "");
}

void SvgCanvas::text(Point at, Anchor anchor, int size, std::string_view what) {
  fmt::format_to(std::back_inserter(out_),
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", at.x, at.y,
                 kAnchors[static_cast<std::size_t>(anchor)], size, escaped(what));
}

void SvgCanvas::upward_text(Point at, int size, std::string_view what) {
  fmt::format_to(std::back_inserter(out_),
                 "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
                 "font-size=\"{}\">{}</text>\n",
                 at.x, at.y, size, escaped(what));
}

void SvgCanvas::curve(std::size_t series, const std::vector<Point>& points) {
  fmt::format_to(std::back_inserter(out_), "<polyline class=\"c{}\" fill=\"none\" stroke-width=\"2.5\" points=\"",
                 series % std::size(kSeries));
  for (const Point& point : points) fmt::format_to(std::back_inserter(out_), "{:.1f},{:.1f} ", point.x, point.y);
  out_ += "\"/>\n";
}

void SvgCanvas::dot(std::size_t series, Point at, double radius) {
  fmt::format_to(std::back_inserter(out_),
                 "<circle class=\"d{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill-opacity=\"0.6\"/>\n",
                 series % std::size(kSeries), at.x, at.y, radius);
}

void SvgCanvas::box(std::size_t series, Point upper_left, Point lower_right) {
  fmt::format_to(std::back_inserter(out_),
                 "<rect class=\"d{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                 series % std::size(kSeries), upper_left.x, upper_left.y, lower_right.x - upper_left.x,
                 lower_right.y - upper_left.y);
}

void SvgCanvas::header(double left, std::string_view title, const std::vector<std::string>& series) {
  text({left, 24}, Anchor::start, 17, title);
  double x = left;
  for (std::size_t k = 0; k < series.size(); ++k) {
    curve(k, {{x, 46}, {x + 22, 46}});
    text({x + 28, 50}, Anchor::start, 13, series[k]);
    x += 44 + 7.5 * static_cast<double>(series[k].size());
  }
}

std::string SvgCanvas::finish(double width, double height) const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
             "{1:.0f}\" font-family=\"sans-serif\">\n<style>{2}@media(prefers-color-scheme:dark){{{3}}}</style>\n"
             "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
             width, height, rules(&Shades::light), rules(&Shades::dark)) +
         out_ + "</svg>\n";
}

std::vector<double> round_ticks(double low, double high, int about) {
  const double rough = (high - low) / about;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 2 ? 2 : rough / power < 5 ? 5 : 10);
  const double first = std::ceil(low / step);
  const auto count = static_cast<int>(std::floor(high / step) - first) + 1;
  std::vector<double> ticks;
  for (int k = 0; k < count; ++k) ticks.push_back((first + k) * step);
  return ticks;
}

}  // namespace starling::plot
