#include "coordinator/web/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "coordinator/web/html.h"

namespace starling::web {
namespace {

constexpr double kWidth = 720;  // width of the SVG, in its units
constexpr double kHeight = 200;
constexpr int kLabels = 5;
constexpr std::size_t kTableRows = 12;  // rows for a line; bars are all listed
constexpr double kGap = 0.2;            // fraction of a bar's width
constexpr std::int64_t kMsPerDay = 86'400'000;

std::string axis_number(double number, double step) {
  const int places = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
  return places == 0 ? grouped(std::llround(number)) : fmt::format("{:.{}f}", number, places);
}

// Labels from top to bottom, as a column beside the chart.
std::string axis_labels(const Axis& axis) {
  std::string html;
  for (int i = axis.count - 1; i >= 0; --i) {
    html += fmt::format("<span>{}</span>", axis_number(axis.first + i * axis.step, axis.step));
  }
  return html;
}

// A line across the chart for every label.
std::string grid_lines(const Axis& axis) {
  std::string html;
  for (int i = 0; i < axis.count; ++i) {
    const double y = kHeight * i / (axis.count - 1);
    html += fmt::format("<line class=\"grid\" x1=\"0\" x2=\"{0}\" y1=\"{1:.1f}\" y2=\"{1:.1f}\"/>", kWidth, y);
  }
  return html;
}

double y_of(const Axis& axis, double value) { return (axis.last() - value) / (axis.last() - axis.first) * kHeight; }

// A line over the full width: the axis begins and ends with it.
std::string line(const std::vector<ChartPoint>& points, const Axis& axis) {
  const double first = static_cast<double>(points.front().x);
  const double range = std::max(1.0, static_cast<double>(points.back().x) - first);
  std::string corners;
  for (const ChartPoint& point : points) {
    corners +=
        fmt::format("{:.1f},{:.1f} ", (static_cast<double>(point.x) - first) / range * kWidth, y_of(axis, point.y));
  }
  return fmt::format("<polygon class=\"area\" points=\"0,{1} {2}{0},{1}\"/><polyline class=\"curve\" points=\"{2}\"/>",
                     kWidth, kHeight, corners);
}

std::string bars(const std::vector<ChartPoint>& points, const Axis& axis) {
  const double width = kWidth / static_cast<double>(points.back().x - points.front().x + 1);
  std::string html;
  for (const ChartPoint& point : points) {
    const double y = y_of(axis, point.y);
    if (y >= kHeight) continue;
    html += fmt::format("<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                        (static_cast<double>(point.x - points.front().x) + kGap / 2) * width, y, width * (1 - kGap),
                        kHeight - y);
  }
  return html;
}

std::string x_text(const Chart& chart, std::int64_t x) {
  return chart.over == Chart::Over::days ? utc({x * kMsPerDay}).substr(0, 10) : grouped(x);
}

std::string_view x_name(const Chart& chart) { return chart.over == Chart::Over::days ? "day" : "round"; }

std::string table(const Chart& chart) {
  const std::size_t size = chart.points.size();
  std::string html = fmt::format(
      "<details><summary aria-label=\"These figures as a table: {0}\">These figures as a table</summary><table "
      "class=\"plain\"><caption>{0}</caption><thead><tr><th "
      "scope=\"col\">{1}</th><th scope=\"col\">{2}</th></tr></thead><tbody>",
      escape(chart.title), chart.over == Chart::Over::days ? "Day" : "Round", escape(chart.y_name));
  for (const std::size_t i : spread(size, chart.shape == Chart::Shape::bars ? size : kTableRows)) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{:.{}f}</td></tr>", x_text(chart, chart.points[i].x),
                        chart.points[i].y, chart.places);
  }
  return html + "</tbody></table></details>\n";
}

// Attributes that charts.js reads.
std::string for_script(const Chart& chart) {
  std::string points;
  for (const ChartPoint& point : chart.points) {
    points += fmt::format("{}{} {:.{}f}", points.empty() ? "" : ",", point.x, point.y, chart.places);
  }
  return fmt::format("data-over=\"{}\" data-shape=\"{}\" data-y=\"{}\" data-places=\"{}\"{} data-points=\"{}\"",
                     x_name(chart), chart.shape == Chart::Shape::bars ? "bars" : "line", escape(chart.y_name),
                     chart.places, chart.from_zero ? " data-zero" : "", points);
}

}  // namespace

Axis axis_for(double low, double high, int labels) {
  const double range = std::max(high - low, 1e-6 * std::max(1.0, std::fabs(high)));
  const double rough = range / std::max(1, labels - 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  Axis axis;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    axis.step = factor * power;
    if (axis.step >= rough * (1 - 1e-9)) break;
  }
  axis.first = std::floor(low / axis.step + 1e-9) * axis.step;
  axis.count = std::max(2, static_cast<int>(std::ceil((high - axis.first) / axis.step - 1e-9)) + 1);
  return axis;
}

int places_for(double most) {
  if (most <= 0) return 0;
  return std::clamp(2 - static_cast<int>(std::floor(std::log10(most))), 0, 6);
}

std::vector<std::size_t> spread(std::size_t size, std::size_t count) {
  std::vector<std::size_t> places;
  if (size <= count) {
    for (std::size_t i = 0; i < size; ++i) places.push_back(i);
  } else {
    for (std::size_t i = 0; i < count; ++i) places.push_back(i * (size - 1) / (count - 1));
  }
  return places;
}

std::string chart_section(const Chart& chart) {
  const auto by_value = [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; };
  const auto [low, high] = std::minmax_element(chart.points.begin(), chart.points.end(), by_value);
  const Axis axis = axis_for(chart.from_zero ? std::min(0.0, low->y) : low->y, high->y, kLabels);
  const bool days = chart.over == Chart::Over::days;
  const auto end_text = [&](const ChartPoint& end) { return (days ? "" : "round ") + x_text(chart, end.x); };
  return fmt::format(
      "<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n<p class=\"what\">{2}</p>\n<div class=\"chart\" "
      "{3}><div class=\"ys\" aria-hidden=\"true\">{4}</div><svg viewBox=\"0 0 {5} {6}\" preserveAspectRatio=\"none\" "
      "role=\"img\" aria-label=\"{7}\">{8}{9}</svg><div class=\"xs\" "
      "aria-hidden=\"true\"><span>{10}</span><span>{11}</span></div></div>\n{12}</section>\n",
      chart.id, escape(chart.title), escape(chart.what), for_script(chart), axis_labels(axis), kWidth, kHeight,
      escape(chart.label), grid_lines(axis),
      chart.shape == Chart::Shape::bars ? bars(chart.points, axis) : line(chart.points, axis),
      end_text(chart.points.front()), end_text(chart.points.back()), table(chart));
}

}  // namespace starling::web
