#include "tests/sim/departures_command.h"

#include <fmt/format.h>

#include "shared/base/files.h"
#include "tests/plots/dot_plot.h"
#include "tests/sim/departures.h"

namespace starling::sim {
namespace {

struct Row {
  std::string name;
  DeparturesResult result;
};

double off_by(const SamplesPerS& figure) { return 100 * (figure.predicted / figure.simulated - 1); }

void print_table(const std::vector<Row>& rows) {
  fmt::print(
      "| samples/s that count | undisturbed | predicted | off by | with kills | predicted | off by |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n");
  for (const auto& [name, result] : rows) {
    fmt::print("| {} | {:.1f} | {:.1f} | {:+.0f} % | {:.1f} | {:.1f} | {:+.0f} % |\n", name,
               result.undisturbed.simulated, result.undisturbed.predicted, off_by(result.undisturbed),
               result.with_kills.simulated, result.with_kills.predicted, off_by(result.with_kills));
  }
}

std::string to_svg(const std::vector<Row>& rows) {
  plot::DotPanel panel{"six volunteers of 20 samples a second", "samples a second that count", false, 0, {}};
  for (const auto& [name, result] : rows) {
    panel.rows.push_back({name,
                          {{"undisturbed", {result.undisturbed.simulated}},
                           {"with kills", {result.with_kills.simulated}},
                           {"with kills, predicted", {result.with_kills.predicted}}},
                          {}});
  }
  return plot::dot_plot("What volunteers who come and go cost", {panel});
}

}  // namespace

Status run_departures(const DeparturesArguments& arguments) {
  std::vector<Row> rows;
  for (const DeparturesSetting& setting : departures_settings()) {
    STARLING_ASSIGN(const DeparturesResult result, compare_departures(setting, arguments.seed, arguments.seeds));
    rows.push_back({setting.name, result});
  }
  print_table(rows);
  if (arguments.plot_file.empty()) return {};
  return write_file_atomically(arguments.plot_file, to_svg(rows));
}

}  // namespace starling::sim
