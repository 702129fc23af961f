#include "tests/sim/tracking_command.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "shared/base/files.h"
#include "tests/plots/curve_plot.h"
#include "tests/sim/tracking.h"

namespace starling::sim {
namespace {

constexpr std::array kSteps{0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3};
constexpr int kPlotEvery = 50;  // gossips
constexpr int kPlotDecades = 15;
constexpr double kDiverged = 1e6;

struct Curve {
  TrackingSetup setup;
  std::vector<double> errors;
};

// A method's curves, one for each step, and the one that ends lowest.
struct Row {
  std::vector<Curve> curves;
  std::size_t best = 0;
};

std::vector<Row> compute(const TrackingArguments& arguments) {
  std::vector<Row> rows;
  for (const TrackingMethod method : kTrackingMethods) {
    Row row;
    for (const double step : kSteps) {
      const TrackingSetup setup{method, step, arguments.peers, arguments.gossips, arguments.rounds};
      row.curves.push_back({setup, tracking_errors(setup, arguments.seed)});
      if (row.curves.back().errors.back() < row.curves[row.best].errors.back()) row.best = row.curves.size() - 1;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string name_of(const TrackingSetup& setup) {
  if (setup.method != TrackingMethod::detag) return std::string(to_string(setup.method));
  return fmt::format("{}, {} gossips a step", to_string(setup.method), setup.gossips);
}

void print_table(const TrackingArguments& arguments, const std::vector<Row>& rows) {
  fmt::print(
      "{} peers on a ring, each with a quadratic loss of its own; how far from the lowest point of them all the worst "
      "peer is\nafter {} gossips, {:.3g} at first, by step\n\n| method |",
      arguments.peers, arguments.rounds, rows.front().curves.front().errors.front());
  for (const double step : kSteps) fmt::print(" {} |", step);
  fmt::print("\n|---|");
  for (std::size_t k = 0; k < kSteps.size(); ++k) fmt::print("---|");
  fmt::print("\n");
  for (const Row& row : rows) {
    fmt::print("| {} |", name_of(row.curves.front().setup));
    for (std::size_t k = 0; k < row.curves.size(); ++k) {
      const double error = row.curves[k].errors.back();
      const std::string text = error < kDiverged ? fmt::format("{:.1e}", error) : "diverges";
      fmt::print(" {} |", k == row.best ? fmt::format("**{}**", text) : text);
    }
    fmt::print("\n");
  }
}

std::string to_svg(const TrackingArguments& arguments, const std::vector<Row>& rows) {
  plot::PlotPanel panel{fmt::format("{} peers on a ring, each method at its best step", arguments.peers), {}};
  for (const Row& row : rows) {
    const Curve& best = row.curves[row.best];
    plot::PlotCurve curve{fmt::format("{}, η = {}", name_of(best.setup), best.setup.step), {}};
    for (std::size_t t = 0; t < best.errors.size(); t += kPlotEvery) {
      curve.values.push_back(best.errors[t] / best.errors.front());
    }
    panel.curves.push_back(std::move(curve));
  }
  return plot::curve_plot({panel}, {"The worst peer's way to the lowest point of everybody's losses",
                                    fmt::format("gossips / {}", kPlotEvery), "distance, of the first", kPlotDecades});
}

}  // namespace

Status run_tracking(const TrackingArguments& arguments) {
  const std::vector<Row> rows = compute(arguments);
  print_table(arguments, rows);
  if (arguments.plot_file.empty()) return {};
  return write_file_atomically(arguments.plot_file, to_svg(arguments, rows));
}

}  // namespace starling::sim
